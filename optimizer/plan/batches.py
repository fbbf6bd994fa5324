"""The batches that a stream comes in: what each brings, which windows end with it, and what it does to retained
levels.

A schedule is in seconds of the stream. What a batch reads, folds into chunks, loads and saves of the levels of a tree
is in ticks of the tree's clock: a tick belongs to a slice or chunk of a level, so that ticks of a level, times its
slices or chunks per tick, are rows. jobs/engine/finals/gather.py does what is counted here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from optimizer.plan.levels import Level, Span, cover_windows, window_times
from optimizer.windows.window import FloatArray, IntArray

MOST_BATCHES = 512  # of a run that are told apart
MOST_SHELVED = 128  # of which state files are followed
MOST_STEPS = 24  # batches that are looked at one by one; those between them are like their neighbours
STEADY_STEPS = 4  # batches of an endless stream that are looked at
ROOMY = 8  # slices and chunks to a time at which a window starts or ends, from which on the engine combines them
FEW_FILES, SMALL_FILE, PART_OF_SHELF, OWN_FILE = 4, 1 << 13, 4, 1 << 11  # jobs/engine/warehouse/state_files.py
FAR = 8  # ranges before the first event that a stream's first batch begins at


@dataclass(frozen=True)
class Step:
    """A batch: its clock, and what it brings."""

    after: float  # windows that end up to it are out already
    until: float  # windows that end up to it end now
    high: float  # the end of its events
    added: float  # seconds of its events
    weight: float = 1.0  # batches that it stands for

    @property
    def answers(self) -> bool:
        """Whether any window ends in the batch."""
        return self.until > self.after

    @property
    def ends(self) -> float:
        """The seconds in which windows end."""
        return self.until - self.after


@dataclass(frozen=True)
class Schedule:
    """How a stream comes in: in one run of several batches, or endlessly, a run for every batch."""

    batch: float  # seconds
    batches: float = 1.0  # of one run; infinitely many for an endless stream, whose every run is one batch
    buckets: int = 1  # tasks that the keys of a batch are spread over

    def buckets_of(self, keys: float) -> float:
        """Return how many buckets hold at least one of so many keys, on average.

        >>> Schedule(10, buckets=2).buckets_of(1), Schedule(10, buckets=2).buckets_of(2)
        (1.0, 1.5)
        """
        return float(self.buckets * (1 - (1 - 1 / self.buckets) ** keys))

    def steps(self, reach: float) -> list[Step]:
        """Return the batches of a run; of an endless stream some that come after its slices were kept for `reach`.

        A run of several batches answers each with the next one, and the last with a closing.

        >>> [(step.after, step.until, step.high, step.added) for step in Schedule(10, 3).steps(5)]
        [(0, 0, 10, 10), (0, 10, 20, 10), (10, 20, 30, 10), (20, 30, 30, 0)]
        >>> [(step.after, step.until, step.weight) for step in Schedule(10, 50).steps(5)][:4]
        [(0, 0, 1.0), (0, 10, 1.0), (10, 20, 3.0), (40, 50, 3.0)]
        """
        steps = list(self._steps(reach))
        if not math.isfinite(self.batches):
            return steps[-STEADY_STEPS:]
        if len(steps) <= MOST_STEPS:
            return steps
        middle = steps[2:-1]  # the first answers nothing, the second begins, the last brings nothing
        every = math.ceil(len(middle) / (MOST_STEPS - 3))
        some = middle[::every]
        alike = len(middle) / len(some)
        return [*steps[:2], *(Step(s.after, s.until, s.high, s.added, alike) for s in some), steps[-1]]

    def merges(self, files: int, reach: float) -> float:
        """Return how often a row is written again, if every so many files, one of each batch, make one of the next tier
        and are dropped `reach` seconds after the watermark, which is behind by a batch, has passed them.

        >>> Schedule(10, 20).merges(16, math.inf), Schedule(10, math.inf).merges(16, math.inf)  # 16 of 20; two tiers
        (0.8, 2.0)
        """
        total, span = 0.0, files
        while span <= min(self.batches, MOST_BATCHES) and (span - 2) * self.batch <= reach:
            total += math.floor(self.batches / span) * span / self.batches if math.isfinite(self.batches) else 1.0
            span *= files
        return total

    def rewrites(self, rows: float, reach: float) -> float:
        """Return how often a row of the state is written again, if every batch adds so many that are kept for `reach`.

        >>> Schedule(10, 8).rewrites(100, 1000), Schedule(10, 8).rewrites(5000, 1000)  # large ones have their own files
        (1.0, 0.0)
        """
        kept = min(math.ceil(reach / self.batch), MOST_SHELVED) if math.isfinite(reach) else MOST_SHELVED
        count = round(min(self.batches, 2 * kept + FEW_FILES**2, MOST_SHELVED))
        return _rewrites(float(f"{max(rows, 1.0):.2g}"), kept, count, not math.isfinite(self.batches))

    def _steps(self, reach: float) -> Iterator[Step]:
        length, count = self.batch, min(self.batches, MOST_BATCHES)
        if self.batches == 1:
            yield Step(0, length, length, length)
        elif math.isfinite(self.batches):
            for number in range(round(count)):
                yield Step(max(0, number - 1) * length, number * length, (number + 1) * length, length)
            yield Step((count - 1) * length, count * length, count * length, 0)
        else:
            for number in range(min(MOST_BATCHES, math.ceil(reach / length)) + STEADY_STEPS):
                yield Step(number * length, (number + 1) * length, (number + 1) * length, length)


@lru_cache(4096)
def _rewrites(rows: float, kept: int, batches: int, is_endless: bool) -> float:
    """Add the files of so many batches, of which each is dropped after some, and merge them as the engine does."""
    added: list[tuple[int, float]] = []  # the newest batch of every file, and its rows
    shelf: list[tuple[int, float]] = []
    rewritten, counted = 0.0, 0.0
    for number in range(batches):
        (shelf if rows > OWN_FILE else added).append((number, rows))
        added, shelf = ([file for file in files if file[0] + kept >= number] for files in (added, shelf))
        group = added if len(added) >= FEW_FILES else _mergeable(shelf)
        since = max(number - kept, 0)
        merged = sum(min(size, rows * (newest - since + 1)) for newest, size in group)
        if group:
            shelf = [file for file in shelf if file not in group] + [(group[-1][0], merged)]
            added = [] if group is added else added
        if not is_endless or 2 * number >= batches:
            rewritten, counted = rewritten + merged, counted + rows
    return rewritten / counted if counted else 0.0


def _mergeable(shelf: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return files of about the same size that the engine makes one of."""
    most = max(SMALL_FILE, sum(size for _, size in shelf) // PART_OF_SHELF)
    by_size: dict[int, list[tuple[int, float]]] = {}
    for file in sorted(shelf):
        by_size.setdefault(max(0, (4 * int(file[1]) // SMALL_FILE).bit_length() + 1) // 2, []).append(file)
    groups = [files[:FEW_FILES] for files in by_size.values() if len(files) >= FEW_FILES]
    return next((group for group in groups if sum(size for _, size in group) <= most), [])


STEADY = Schedule(300.0, math.inf)  # as the DAG's schedule has it


@dataclass(frozen=True, eq=False)
class Handled:
    """What a batch does with the levels of a tree: the spans it reads, and ticks by level."""

    step: Step
    spans: FloatArray  # three columns: from, to, level; those of no level overlap
    folded: FloatArray  # into chunks of the next level
    loaded: FloatArray
    saved: FloatArray
    windows: IntArray  # that are answered, as `cover_windows` takes them
    clock: Span  # those end in it
    chunks: Sequence[int] = ()  # where chunks begin and end that close now

    def read(self, rates: FloatArray) -> float:
        """Return the rows that are read for the windows that end, at so many rows per tick of every level."""
        low, high, level = self.spans.T
        return float((high - low) @ rates[level.astype(np.int64)])

    @property
    def low(self) -> float:
        """The first time that is read; where nothing is, the end of the batch."""
        return float(self.spans[:, 0].min(initial=np.inf)) if len(self.spans) else self.high

    @property
    def high(self) -> float:
        """The last time that is read."""
        return float(self.spans[:, 1].max()) if len(self.spans) else 0.0

    def bounds(self, rates: FloatArray) -> IntArray | None:
        """Return the times between which what is read is combined at once, since no window starts or ends there; None
        where it holds no chunks, or little is to be saved."""
        if not (self.spans[:, 2] > 0).any():
            return None
        times = window_times(self.windows, *self.clock, int(self.read(rates)) // ROOMY)
        return None if times is None else np.union1d(times, np.array(self.chunks, np.int64))

    def rows_until(self, rates: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return times in order, and how many rows begin before each of them."""
        low, high, level = self.spans[np.argsort(self.spans[:, 0], kind="stable")].T
        rows = np.cumsum((high - low) * rates[level.astype(np.int64)])
        times = np.column_stack([low, high]).reshape(-1)
        return times, np.column_stack([np.concatenate([[0.0], rows[:-1]]), rows]).reshape(-1)


def handle_batches(levels: Sequence[Level], windows: IntArray, steps: Sequence[Step], ticks: float) -> list[Handled]:
    """Return what batches read, fold and save of the levels of a tree; `ticks` is how fast its clock runs, per second.

    Windows of 100 every 10 over slices of 1 and chunks of 10, in batches of 20: a batch reads 100 ticks as chunks and
    the last 10 as slices, since a window ends there, folds two chunks, and keeps them and some of its slices.

    >>> levels = (Level(((1, 0),), 10), Level(((10, 0),), 100))
    >>> [batch] = handle_batches(levels, np.array([[100], [10], [0], [1]]), [Step(200, 220, 220, 20)], 1)
    >>> batch.spans.tolist(), batch.folded.tolist(), batch.loaded.tolist(), batch.saved.tolist()
    ([[210.0, 220.0, 0.0], [110.0, 210.0, 1.0]], [20.0, 0.0], [0.0, 90.0], [9.0, 20.0])
    """
    return [_handle(levels, windows, step, ticks) for step in steps]


def _handle(levels: Sequence[Level], windows: IntArray, step: Step, ticks: float) -> Handled:
    reach = max(level.reach for level in levels)
    after, until, high = (round(time * ticks) for time in (step.after, step.until, step.high))
    fresh = [(high - round(step.added * ticks), high)]  # of every level, what the batch makes
    began = after if after > 0 else -FAR * reach
    spans = cover_windows(levels, windows, began, until) if step.answers else []
    needs = [level.since(until) for level in levels]
    for number, of_level in enumerate(spans):
        needs[number] = min([needs[number], *(low for low, _ in of_level)])
    folded, loaded, saved = (np.zeros(len(levels)) for _ in range(3))
    for number in range(1, len(levels)):
        level = levels[number]
        closing = max(level.floor(began), level.floor(min(needs[number:]))), level.floor(until)
        closing = (closing[0], max(closing))
        fresh.append(closing)
        folded[number - 1] += _length([closing], 0, high)
        loaded[number - 1] += _length([closing], 0, min(fresh[number - 1][0], high))
    for number, of_level in enumerate(spans):
        loaded[number] += _length(of_level, 0, min(fresh[number][0], high))
    for number, level in enumerate(levels):
        saved[number] = _length(fresh[number : number + 1], max(level.since(until), 0), high)
    read = [(max(low, 0), min(end, high), n) for n, of_level in enumerate(spans) for low, end in of_level]
    closed = range(*fresh[1], levels[1].edges[0][0]) if levels[1:] else range(0)
    spanned = np.array([s for s in read if s[0] < s[1]], float).reshape(-1, 3)
    return Handled(step, spanned, folded, loaded, saved, windows, (began, until), (*closed, *fresh[-1][1:]))


def _length(spans: Sequence[Span], low: int, high: int) -> float:
    """Return the ticks of spans between two times."""
    return float(sum(max(0, min(end, high) - max(begin, low)) for begin, end in spans))
