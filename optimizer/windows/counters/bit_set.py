"""Mark every edge of a composite slide in a bit set and count the marks: right for a period up to about 1e6."""

from __future__ import annotations

from fractions import Fraction

from optimizer.windows.edges import Progressions, period


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
