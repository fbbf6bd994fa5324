"""Edges as arithmetic progressions: (period, residue) stands for {residue + k * period}, 0 <= residue < period."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from math import gcd, lcm

from optimizer.errors import HeddleError
from optimizer.windows.slicing import SLICINGS
from optimizer.windows.window import Window

Progression = tuple[int, int]
Progressions = frozenset[Progression]


@lru_cache(maxsize=1 << 16)
def progressions(window: Window, slicing: str = "pairs") -> Progressions:
    """The edges of a window, canonical: two windows have equal edges if and only if these are equal."""
    if window.slide <= 0 or window.range <= 0:
        raise HeddleError(
            f"range {window.range} and slide {window.slide}: a window needs both to be positive; give them at least 1"
        )
    if slicing not in SLICINGS:
        raise HeddleError(f"there is no slicing {slicing!r}; use one of {', '.join(SLICINGS)}")
    return canonical(SLICINGS[slicing].edges(window))


def union(parts: Iterable[Progressions]) -> Progressions:
    """The edges of a tree: what its windows' edges hold together."""
    return canonical(progression for part in parts for progression in part)


def canonical(edges: Iterable[Progression]) -> Progressions:
    """The same edges with complete residue systems joined and contained progressions dropped."""
    kept = drop_contained(edges)
    while joined := _complete_system(kept):
        system, whole = joined
        kept = drop_contained((kept - system) | {whole})
    return kept


def drop_contained(edges: Iterable[Progression]) -> Progressions:
    """The progressions that no other one contains."""
    kept: set[Progression] = set()
    periods: list[int] = []
    for size, residue in sorted(set(edges)):
        if not any(size % outer == 0 and (outer, residue % outer) in kept for outer in periods):
            kept.add((size, residue))
            if not periods or periods[-1] != size:
                periods.append(size)
    return frozenset(kept)


def intersection(left: Progression, right: Progression) -> Progression | None:
    """The common edges of two progressions, by the Chinese remainder theorem; None when there are none."""
    (size, residue), (other, remainder) = left, right
    common = gcd(size, other)
    steps, apart = divmod(remainder - residue, common)
    if apart:
        return None
    whole = size // common * other
    return whole, (residue + size * (steps * pow(size // common, -1, other // common) % (other // common))) % whole


def period(edges: Iterable[Progression]) -> int:
    """After how many ticks the edges repeat."""
    return lcm(*(progression[0] for progression in edges))


def common_step(edges: Progressions) -> tuple[int, int]:
    """(step, shift) such that every edge is `shift` and a multiple of `step`, the largest there is."""
    shift = min(edges)[1]
    return gcd(*(size for size, _ in edges), *(residue - shift for _, residue in edges)), shift


def rescaled(edges: Progressions, step: int, shift: int) -> Progressions:
    """The same edges counted in steps from `shift` on."""
    return frozenset((size // step, (residue - shift) % size // step) for size, residue in edges)


def _complete_system(edges: Progressions) -> tuple[set[Progression], Progression] | None:
    """All q of {r, r + p/q, r + 2p/q, ...} modulo p, and r modulo p/q, which they are together."""
    alike = Counter(size for size, _ in edges)
    for size, residue in edges:
        for parts in range(2, alike[size] + 1):
            step, rest = divmod(size, parts)
            if rest == 0 and (size, (residue + step) % size) in edges:
                system = {(size, (residue + k * step) % size) for k in range(parts)}
                if system <= edges:
                    return system, (step, residue % step)
    return None
