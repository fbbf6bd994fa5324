"""Windows with equal edges collapse into one class, a million at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from optimizer.windows.edges import Edges
from optimizer.windows.window import PAIRS, PANES

Integers = NDArray[np.int64]

LONGEST_TABLE = 1 << 22
HASHES = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93)


def collapse(
    ranges: Integers, slides: Integers, offsets: Integers | None = None, slicing: str = PAIRS
) -> tuple[list[Edges], Integers]:
    """Return the distinct edge classes of windows given as columns, and every window's class.

    >>> classes, class_of = collapse(np.array([10, 20, 7]), np.array([5, 5, 3]))
    >>> classes, class_of.tolist()
    ([((3, 0), (3, 1)), ((5, 0),)], [1, 1, 0])
    >>> collapse(np.array([10, 20, 7]), np.array([4, 4, 3]), slicing="panes")[0]
    [((1, 0),), ((2, 0),), ((4, 0),)]
    """
    if slicing != PAIRS:  # the pairs of a tumbling window are its starts alone
        slides = np.gcd(ranges, slides) if slicing == PANES else slides
        ranges = slides
    sizes, place = distinct(slides)
    starts = np.zeros_like(slides) if offsets is None else offsets % slides
    ends = (starts + ranges) % slides
    if not ends.any() and not starts.any():
        return [((size, 0),) for size in sizes.tolist()], place
    (lows, low), (highs, high) = distinct(np.minimum(starts, ends)), distinct(np.maximum(starts, ends))
    keys, index = distinct((place * len(lows) + low) * len(highs) + high)
    columns = sizes[keys // (len(lows) * len(highs))], lows[keys // len(highs) % len(lows)], highs[keys % len(highs)]
    number_of: dict[Edges, int] = {}
    numbers = [
        number_of.setdefault(_pair(size, start, end), len(number_of))
        for size, start, end in zip(*(column.tolist() for column in columns), strict=True)
    ]
    return list(number_of), np.array(numbers, dtype=np.int64)[index]


def _pair(size: int, start: int, end: int) -> Edges:
    """Two progressions of one period, canonical; two that halve their period are one."""
    if 2 * (end - start) == size:
        return ((size // 2, start),)
    return ((size, start), (size, end)) if start != end else ((size, start),)


def distinct(keys: Integers) -> tuple[Integers, Integers]:
    """Return the distinct keys, ascending, and where every key is among them: by a table if one fits, else by sorting.

    >>> [column.tolist() for column in distinct(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    for slots, size in _tables(keys):
        owner = np.zeros(size, dtype=np.int64)
        owner[slots] = keys
        if np.array_equal(owner[slots], keys):  # no two keys in one slot
            has_owner = np.zeros(size, dtype=np.bool_)
            has_owner[slots] = True
            slots_used = np.flatnonzero(has_owner)
            slots_used = slots_used[np.argsort(owner[slots_used])]
            rank = np.zeros(size, dtype=np.int64)
            rank[slots_used] = np.arange(len(slots_used))
            return owner[slots_used], rank[slots]
    values, index = np.unique(keys, return_inverse=True)
    return values, index.astype(np.int64)


def _tables(keys: Integers) -> Iterator[tuple[Integers, int]]:
    """Return a slot for every key and the number of slots: the key itself when keys are close together, else hashes."""
    low, high = int(keys.min(initial=0)), int(keys.max(initial=0))
    if high - low < LONGEST_TABLE:
        yield keys - low, high - low + 1
        return
    if len(np.unique(keys[:1000])) == min(1000, len(keys)):
        return  # hardly a key comes twice: sorting is quicker than failing
    for multiplier in HASHES:
        yield ((keys.view(np.uint64) * np.uint64(multiplier)) >> np.uint64(44)).astype(np.int64), 1 << 20
