"""Mark every edge of a composite slide in a bit set and count the marks: right for a period up to about 1e6."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from optimizer.windows.atoms import Atoms
from optimizer.windows.edges import Edges, all_progressions, common_step, period, rescaled

Integers = NDArray[np.int64]

LONGEST = 1 << 20
MOST_WEIGHTED = 4096
MOST_BITS = 1 << 28  # of all classes together
MOST_MARKS = 1 << 26


def applies(edges: Edges) -> bool:
    """Return whether the edges repeat within a million ticks.

    >>> applies(((4, 0), (6, 0))), applies(((1 << 21, 0),))
    (True, False)
    """
    return is_period_within(edges, LONGEST)


def is_period_within(edges: Edges, most: int) -> bool:
    """Return whether the edges repeat after `most` ticks at the latest; a period may be far too long to compute.

    >>> is_period_within(((4, 0), (6, 0)), 12), is_period_within(((4, 0), (6, 0)), 11)
    (True, False)
    """
    length = 1
    for size in {size for size, _ in edges}:
        length = lcm(length, size)
        if length > most:
            return False
    return True


def marks(edges: Edges, length: int) -> int:
    """Return the edges in [0, length) as the bits of one integer; `length` is a multiple of every period.

    >>> bin(marks(((4, 1),), 8))
    '0b100010'
    """
    bits = 0
    for size, residue in edges:
        bits |= comb(size, length) << residue
    return bits


def rate(edges: Edges) -> Fraction:
    """Return the edges in a period over its length.

    >>> rate(((4, 0), (6, 0)))
    Fraction(1, 3)
    """
    length = period(edges)
    return Fraction(marks(edges, length).bit_count(), length)


def comb(size: int, length: int) -> int:
    """Return the bits 0, size, 2 * size, ... below length, by doubling.

    >>> bin(comb(3, 9))
    '0b1001001'
    """
    teeth, comb, filled = length // size, 1, 1
    while filled < teeth:
        step = min(filled, teeth - filled)
        comb |= comb << (step * size)
        filled += step
    return comb


def atoms(classes: Sequence[Edges]) -> Atoms | None:
    """Every tick of a period is an atom, or every set of ticks that no class tells apart if that leaves few.

    None where the period, or all classes together, are too long.

    >>> few = atoms([((4, 0),), ((6, 0),)])  # the first has 0, 4 and 8 of 12 ticks, the second 0 and 6
    >>> few.length, few.count(few.bits_of(0b01)), few.count(few.bits_of(0b11))
    (12, 3, 4)
    """
    everything = all_progressions(classes)
    step, shift = common_step(everything)
    if not is_period_within(everything, LONGEST * step):
        return None
    length = period(everything)
    size = length // step
    scaled = [rescaled(edges, step, shift) for edges in classes]
    groups = _tell_apart(scaled, size)
    if groups is not None:
        weights = groups[1]
        return Atoms(length, [_groups_of_edges(edges, *groups) for edges in scaled], len(weights), weights.tolist())
    if size * len(classes) > MOST_BITS:
        return None
    return Atoms(length, [marks(edges, size) for edges in scaled], size)


def _tell_apart(classes: Sequence[Edges], size: int) -> tuple[Integers, Integers] | None:
    """Ticks grouped by the classes that have them, as (group of every tick, weight of every group); None if too many.

    A random 64-bit key per class makes a signature per tick; that no two signatures collide is checked, not hoped.
    """
    if sum(size // step for edges in classes for step, _ in edges) > MOST_MARKS:
        return None
    keys = np.random.default_rng(len(classes)).integers(1, 1 << 63, len(classes), dtype=np.uint64)
    signatures = np.zeros(size, dtype=np.uint64)
    for edges, key in zip(classes, keys, strict=True):
        signatures[_ticks(edges, size)] ^= key
    distinct, group, weights = np.unique(signatures, return_inverse=True, return_counts=True)
    if len(distinct) > min(MOST_WEIGHTED, size // 2):
        return None
    for edges in classes:
        ticks = _ticks(edges, size)
        if weights[np.unique(group[ticks])].sum() != len(ticks):
            return None
    return group, weights


def _ticks(edges: Edges, size: int) -> Integers:
    parts = [np.arange(residue, size, step) for step, residue in edges]
    return np.unique(np.concatenate(parts)) if len(parts) > 1 else parts[0]


def _groups_of_edges(edges: Edges, group: Integers, weights: Integers) -> int:
    """Return the groups that hold the edges, as bits."""
    flags = np.zeros(len(weights), dtype=np.uint8)
    for step, residue in edges:
        flags[group[residue::step]] = 1
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
