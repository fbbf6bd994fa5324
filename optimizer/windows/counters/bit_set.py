"""Mark every edge of a composite slide in a bit set and count the marks: right for a period up to about 1e6."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd

import numpy as np
from numpy.typing import NDArray

from optimizer.windows.atoms import Atoms
from optimizer.windows.edges import Progression, Progressions, period

LONGEST = 1 << 20
MOST_WEIGHTED = 4096
MOST_BITS = 1 << 30  # of all classes together


def applies(edges: Progressions) -> bool:
    """Up to a period of a million ticks."""
    return period(edges) <= LONGEST


def marks(edges: Progressions, length: int) -> int:
    """The edges in [0, length) as the bits of one integer; `length` is a multiple of every period."""
    found = 0
    for size, residue in edges:
        found |= _comb(size, length) << residue
    return found


def rate(edges: Progressions) -> Fraction:
    """Edges in a period over its length."""
    length = period(edges)
    return Fraction(marks(edges, length).bit_count(), length)


def _comb(size: int, length: int) -> int:
    """Bits 0, size, 2 * size, ... below length, by doubling."""
    teeth, comb, filled = length // size, 1, 1
    while filled < teeth:
        step = min(filled, teeth - filled)
        comb |= comb << (step * size)
        filled += step
    return comb


def atoms(classes: Sequence[Progressions]) -> Atoms | None:
    """Every tick of a period is an atom, or every set of ticks that no class tells apart if that leaves few."""
    everything = frozenset[Progression]().union(*classes)
    length, scale = period(everything), _common_step(everything)
    if length // scale > LONGEST or length // scale * len(classes) > MOST_BITS:
        return None
    size = length // scale
    shift = min(everything)[1]
    scaled = [frozenset((p // scale, (r - shift) % p // scale) for p, r in edges) for edges in classes]
    groups = _tell_apart(scaled, size)
    if groups is None:
        return Atoms(length, [marks(edges, size) for edges in scaled], size)
    first, group, weights = groups
    bits = [_grouped(edges, group, len(first)) for edges in scaled]
    return Atoms(length, bits, len(first), weights.tolist())


def _common_step(edges: Progressions) -> int:
    """The largest step that the period and the distance of any two edges are multiples of."""
    shift = min(edges)[1]
    return gcd(*(size for size, _ in edges), *(residue - shift for _, residue in edges))


def _tell_apart(
    classes: Sequence[Progressions], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]] | None:
    """Ticks grouped by the classes that have them, as (first tick, group of every tick, weight); None if too many.

    A random 64-bit key per class makes a signature per tick; that no two signatures collide is checked, not hoped.
    """
    keys = np.random.default_rng(len(classes)).integers(1, 1 << 63, len(classes), dtype=np.uint64)
    signatures = np.zeros(size, dtype=np.uint64)
    for edges, key in zip(classes, keys, strict=True):
        signatures[_ticks(edges, size)] ^= key
    _, first, group, weights = np.unique(signatures, return_index=True, return_inverse=True, return_counts=True)
    if len(first) > min(MOST_WEIGHTED, size // 2):
        return None
    for edges in classes:
        ticks = _ticks(edges, size)
        met = np.unique(group[ticks])
        if weights[met].sum() != len(ticks):
            return None
    return first, group, weights


def _ticks(edges: Progressions, size: int) -> NDArray[np.int64]:
    parts = [np.arange(residue, size, step) for step, residue in edges]
    return np.unique(np.concatenate(parts)) if len(parts) > 1 else parts[0]


def _grouped(edges: Progressions, group: NDArray[np.int64], size: int) -> int:
    """The groups that hold the edges, as bits."""
    flags = np.zeros(size, dtype=np.uint8)
    for step, residue in edges:
        flags[group[residue::step]] = 1
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
