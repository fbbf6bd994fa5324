"""Edges as arithmetic progressions: (period, residue) stands for {residue + k * period}, 0 <= residue < period."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from math import gcd, lcm

from optimizer.errors import HeddleError
from optimizer.windows.slicing import SLICINGS
from optimizer.windows.window import Window

Progression = tuple[int, int]  # (period, residue)
Edges = tuple[Progression, ...]  # ascending, so that equal sets of progressions are equal and have one text


@lru_cache(maxsize=1 << 16)
def progressions(window: Window, slicing: str = "pairs") -> Edges:
    """Return the edges of a window, canonical: two windows have equal edges if and only if these are equal.

    >>> progressions(Window(range=7, slide=3, offset=1))  # starts at 1, 4, 7, ...; ends at 8, 11, 14, ...
    ((3, 1), (3, 2))
    """
    if window.slide <= 0 or window.range <= 0:
        raise HeddleError(
            f"range {window.range} and slide {window.slide}: a window needs both to be positive; give them at least 1"
        )
    if slicing not in SLICINGS:
        raise HeddleError(f"there is no slicing {slicing!r}; use one of {', '.join(SLICINGS)}")
    return canonical(SLICINGS[slicing].edges(window))


def all_progressions(parts: Iterable[Edges]) -> Edges:
    """Return every progression of several edge sets once, contained ones and all: quicker than `union`.

    >>> all_progressions([((4, 0),), ((2, 0), (4, 0))])
    ((2, 0), (4, 0))
    """
    return tuple(sorted({progression for part in parts for progression in part}))


def union(parts: Iterable[Edges]) -> Edges:
    """Return the edges of a tree, canonical: what its windows' edges hold together.

    >>> union([((4, 0),), ((2, 0),)])
    ((2, 0),)
    """
    return canonical(progression for part in parts for progression in part)


def canonical(edges: Iterable[Progression]) -> Edges:
    """Return the edges with complete residue systems joined and contained progressions dropped.

    >>> canonical([(6, 1), (6, 3), (6, 5), (4, 2)])  # 1, 3, 5 modulo 6 are the odd ticks
    ((2, 1), (4, 2))
    """
    remaining = drop_contained(edges)
    while complete := _complete_system(remaining):
        system, whole = complete
        remaining = drop_contained((set(remaining) - system) | {whole})
    return remaining


def drop_contained(edges: Iterable[Progression]) -> Edges:
    """Return the progressions that no other one contains.

    >>> drop_contained([(4, 1), (8, 5), (8, 6)])
    ((4, 1), (8, 6))
    """
    outermost: dict[Progression, None] = {}  # in the order in which they come: ascending
    periods: list[int] = []
    for size, residue in sorted(set(edges)):
        if not any(size % outer == 0 and (outer, residue % outer) in outermost for outer in periods):
            outermost[size, residue] = None
            if not periods or periods[-1] != size:
                periods.append(size)
    return tuple(outermost)


def intersection(left: Progression, right: Progression) -> Progression | None:
    """Return the common edges of two progressions, by the Chinese remainder theorem; None when there are none.

    >>> intersection((4, 1), (6, 3)), intersection((4, 1), (6, 2))  # 9, 21, 33, ...; odd and even never meet
    ((12, 9), None)
    """
    (size, residue), (other, remainder) = left, right
    common = gcd(size, other)
    steps, apart = divmod(remainder - residue, common)
    if apart:
        return None
    whole = size // common * other
    return whole, (residue + size * (steps * pow(size // common, -1, other // common) % (other // common))) % whole


def period(edges: Iterable[Progression]) -> int:
    """Return after how many ticks the edges repeat.

    >>> period([(4, 1), (6, 0)])
    12
    """
    return lcm(*(progression[0] for progression in edges))


def common_step(edges: Edges) -> tuple[int, int]:
    """Return (step, shift) such that every edge is `shift` and a multiple of `step`, the largest there is.

    >>> common_step(((4, 1), (6, 3)))
    (2, 1)
    """
    shift = min(edges)[1]
    return gcd(*(size for size, _ in edges), *(residue - shift for _, residue in edges)), shift


def rescaled(edges: Edges, step: int, shift: int) -> Edges:
    """Return the edges counted in steps from `shift` on.

    >>> rescaled(((4, 1), (6, 3)), step=2, shift=1)
    ((2, 0), (3, 1))
    """
    return tuple(sorted((size // step, (residue - shift) % size // step) for size, residue in edges))


def _complete_system(edges: Edges) -> tuple[set[Progression], Progression] | None:
    """Return all q of {r, r + p/q, r + 2p/q, ...} modulo p, and r modulo p/q, which they are together."""
    present = set(edges)
    sizes = Counter(size for size, _ in edges)
    for size, residue in edges:
        for parts in range(2, sizes[size] + 1):
            step, rest = divmod(size, parts)
            if rest == 0 and (size, (residue + step) % size) in present:
                system = {(size, (residue + k * step) % size) for k in range(parts)}
                if system <= present:
                    return system, (step, residue % step)
    return None
