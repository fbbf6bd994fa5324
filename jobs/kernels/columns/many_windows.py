"""Many windows over one dense column: chunks are folded once per slide, finer ones feed coarser ones."""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence

from jobs.kernels.arrays import Column
from jobs.kernels.columns.ladder import ladder
from jobs.kernels.columns.one_row_apart import slide as slide_by_one
from jobs.kernels.columns.operators import compiled_for, fuse_into
from jobs.kernels.columns.rows_apart import chunks
from jobs.kernels.columns.scratch import padded, room
from optimizer.windows.window import Window

Level = tuple[int, int]  # slide, and the tick its first chunk starts at
Query = tuple[Level, int]  # a range over the chunks of a level


def weave(op: int, column: Column, windows: Sequence[Window]) -> list[Column]:
    """The fold of every full window, an array per window, all in one block of memory; row i is tick i."""
    column = compiled_for(column)
    asked, places = _asked(windows)
    levels = _levels(op, column, sorted(asked))
    rungs = {level: _rungs(level[0], ranges) for level, ranges in asked.items()}
    single = [(level, range_) for level, ranges in asked.items() for range_ in _beside(level[0], ranges, rungs[level])]
    sizes = [count * padded(len(levels[level])) for level, count in rungs.items()]
    blocks = iter(room([*sizes, *(_count(query, len(column)) for query in single)], column.dtype))
    answers = [column] * len(windows)
    for level, count in rungs.items():
        block = next(blocks)
        if count:
            for rung, answer in enumerate(ladder(op, levels[level], block.reshape(count, -1))):
                answers[asked[level][(rung + 1) * level[0]]] = answer
    for level, range_ in single:
        answer = answers[asked[level][range_]] = next(blocks)
        _one(op, (level, range_), levels, answer)
    return [answers[place] for place in places]


def _asked(windows: Sequence[Window]) -> tuple[dict[Level, dict[int, int]], list[int]]:
    """The ranges of every level, each with the place of its first window, and that place for every window. Windows
    are not hashed: there may be thousands, and that would take as long as their answers."""
    asked: dict[Level, dict[int, int]] = {}
    places = []
    for place, window in enumerate(windows):
        slide = window.slide
        ranges = asked.setdefault((slide, window.offset % slide), {})
        places.append(ranges.setdefault(window.range, place))
    return asked, places


def _rungs(slide: int, ranges: Container[int]) -> int:
    """How many ranges of 1, 2, 3, ... slides there are, each the one before and one chunk more; none, if only one."""
    count = 0
    while (count + 1) * slide in ranges:
        count += 1
    return count if count > 1 else 0


def _beside(slide: int, ranges: Collection[int], rungs: int) -> list[int]:
    """The ranges that are no rung of the ladder."""
    if rungs == len(ranges):
        return []
    return [range_ for range_ in sorted(ranges) if range_ % slide or range_ > rungs * slide]


def _count(query: Query, rows: int) -> int:
    (slide, start), range_ = query
    return (rows - start - range_) // slide + 1


def _finer(levels: dict[Level, Column], *ticks: int) -> int:
    """The coarsest slide whose chunks, from tick 0 on, have edges at all of these ticks."""
    return max(slide for slide, start in levels if start == 0 and all(tick % slide == 0 for tick in ticks))


def _levels(op: int, column: Column, wanted: Sequence[Level]) -> dict[Level, Column]:
    """The chunks of every slide that fit into the column."""
    levels: dict[Level, Column] = {(1, 0): column}
    coarser = [level for level in wanted if level not in levels]
    blocks = room([(len(column) - start) // slide for slide, start in coarser], column.dtype)
    for (slide, start), out in zip(coarser, blocks, strict=True):
        finer = _finer(levels, slide, start)
        chunks(op, levels[finer, 0][start // finer :], slide // finer, slide // finer, out)
        levels[slide, start] = out
    return levels


def _one(op: int, query: Query, levels: dict[Level, Column], out: Column) -> None:
    (slide, start), range_ = query
    whole, fragment = divmod(range_, slide)
    slide_by_one(op, levels[slide, start][: len(out) + whole - 1], whole, out)
    if fragment:
        (fragments,) = room([len(out)], out.dtype)
        finer = _finer(levels, slide, start, fragment)
        ends = levels[finer, 0][(start + whole * slide) // finer :]
        chunks(op, ends, fragment // finer, slide // finer, fragments)
        fuse_into(op, out, fragments)
