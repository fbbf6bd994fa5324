"""Slices: merged, exchanged between processes, folded into coarser ones; the same as if fed at once."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from jobs.engine.events.columns import Events, events_from
from jobs.engine.events.parquet import with_inputs
from jobs.engine.feed.task import fold_events
from jobs.engine.program.program import Grouping, Program, TreeProgram
from jobs.engine.slices.exchange import label, merge_tables, pack_by_bucket, unpack_parcels
from jobs.engine.slices.roll_up import Feed
from jobs.engine.slices.slices import Slices, fold_into, to_table
from optimizer.windows.window import BEGINNING
from tests.worlds.streams import SECOND, odd_row, table_of
from tests.worlds.warehouse import make_world, query

SELECTED = ["sum(x)", "sum(n)", "max(s)", "min(x)", "last(k)", "max_by(s, n)", "min_by(d, s)", "var_pop(x)", "count(*)"]
GROUPED = [("k",), ("k", "i"), ()]


@pytest.fixture(params=GROUPED, ids=str)
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Program:
    more = {"group_by": list(request.param)} if request.param else {}
    queries = [query(f"q{n}", select, 4 * SECOND, 2 * SECOND, **more) for n, select in enumerate(SELECTED)]
    world = make_world(tmp_path, [[odd_row(0, 1)]], [*queries, query("f", "sum(x)", 3 * SECOND, **more)], 0)
    return world.program(world.plan("shared"))


def some_events(program: Program, seed: int, count: int = 60) -> Events:
    pick = random.Random(seed)
    times = pick.sample(range(-20 * SECOND, 20 * SECOND), count)
    return events_from(with_inputs(table_of([odd_row(time, pick.randrange(999)) for time in times]), program), program)


def rows_by_place(slices: Slices, tree: TreeProgram) -> dict[object, list[str]]:
    """What every slice holds, text for text; floats rounded, since sums differ by their order."""
    keys = list(zip(*(column.to_pylist() for column in slices.keys.columns), strict=True))
    found: dict[object, list[str]] = {}
    for i, group in enumerate(slices.group):
        held = []
        for measure in tree.measures:
            row = slices.rows[measure.key][i]
            carried = [slices.carried[name][i].as_py() for name in measure.carries] if row[3] else []
            numbers = [] if measure.coding == "ranked" else np.round(row[[0, 2, 3]].astype(float), 6)
            held.append(f"{measure.key} {numbers} {carried}")
        found[keys[group], int(slices.start[i])] = held
    assert len(found) == len(slices.start)
    return found


def only(program: Program) -> tuple[Grouping, TreeProgram]:
    (root,) = program.roots()
    return root


def test_parts_join_into_the_whole(program: Program) -> None:
    grouping, tree = only(program)
    whole = some_events(program, 1)
    table = table_of([odd_row(time, time % 97) for time in range(0, 30 * SECOND, SECOND // 3)])
    parts = [table.slice(0, 40), table.slice(40, 0), table.slice(40)]
    fed = [
        fold_events(events_from(with_inputs(p, program), program), Feed(grouping, tree), BEGINNING)
        for p in (table, *parts)
    ]
    expected = rows_by_place(fed[0], tree)
    shuffled = [to_table(part) for part in (fed[3], fed[2], fed[1])]
    assert rows_by_place(merge_tables(grouping, tree, shuffled), tree) == expected
    assert len(fold_events(whole, Feed(grouping, tree), BEGINNING).start)


@pytest.mark.parametrize("count", [1, 3])
def test_exchange(program: Program, count: int) -> None:
    grouping, tree = only(program)
    slices = fold_events(some_events(program, 2), Feed(grouping, tree), BEGINNING)
    sent = dict(pack_by_bucket([(grouping, tree, slices)], count))
    received: dict[object, list[str]] = {}
    for bucket, content in sent.items():
        tables = unpack_parcels([content])
        assert list(tables) == [label(grouping, tree)]
        mine = rows_by_place(merge_tables(grouping, tree, tables[label(grouping, tree)]), tree)
        assert 0 <= bucket < count
        assert not mine.keys() & received.keys()
        received |= mine
    assert received == rows_by_place(slices, tree)


def test_folded_into_coarser_slices(program: Program) -> None:
    grouping, tree = only(program)
    events = some_events(program, 3)
    coarse = TreeProgram("t9", ((6 * SECOND, 0),), tree.id, tree.reach, tree.measures, (), {})
    folded = fold_into(coarse.edges, fold_events(events, Feed(grouping, tree), BEGINNING), tree.measures)
    at_once = fold_events(events, Feed(grouping, coarse), BEGINNING)
    assert rows_by_place(folded, coarse) == rows_by_place(at_once, coarse)


def test_since_and_expired_events(program: Program) -> None:
    grouping, tree = only(program)
    events = some_events(program, 4)
    slices = fold_events(events, Feed(grouping, tree), BEGINNING)
    later = slices.since(5 * SECOND)
    kept = {place: held for place, held in rows_by_place(slices, tree).items() if place[1] >= 5 * SECOND}  # type: ignore[index]
    assert rows_by_place(later, tree) == kept
    emitted = 10 * SECOND
    fed = rows_by_place(fold_events(events, Feed(grouping, tree), emitted), tree)
    needed = {place for place in rows_by_place(slices, tree) if place[1] > emitted - tree.reach}  # type: ignore[index]
    assert needed <= fed.keys()


def test_no_events(program: Program) -> None:
    grouping, tree = only(program)
    nothing = events_from(with_inputs(table_of([]), program), program)
    slices = fold_events(nothing, Feed(grouping, tree), BEGINNING)
    assert len(slices.start) == 0
    assert len(merge_tables(grouping, tree, [to_table(slices)]).start) == 0
    assert isinstance(to_table(slices), pa.Table)
