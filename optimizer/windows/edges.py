"""Edges as arithmetic progressions: (period, residue) stands for {residue + k * period}, 0 <= residue < period."""

from __future__ import annotations

from collections.abc import Iterable
from math import lcm

from optimizer.errors import HeddleError
from optimizer.windows.slicing import SLICINGS
from optimizer.windows.window import Window

Progression = tuple[int, int]
Progressions = frozenset[Progression]


def progressions(window: Window, slicing: str = "pairs") -> Progressions:
    """The edges of a window, canonical: two windows have equal edges if and only if these are equal."""
    if window.slide <= 0 or window.range <= 0:
        raise HeddleError(
            f"range {window.range} and slide {window.slide}: a window needs both to be positive; give them at least 1"
        )
    return canonical(SLICINGS[slicing].edges(window))


def union(parts: Iterable[Progressions]) -> Progressions:
    """The edges of a tree: what its windows' edges hold together."""
    return canonical(progression for part in parts for progression in part)


def canonical(edges: Iterable[Progression]) -> Progressions:
    """The same edges with complete residue systems joined and contained progressions dropped."""
    kept = drop_contained(edges)
    while (joined := _join_complete(kept)) != kept:
        kept = drop_contained(joined)
    return kept


def covers(outer: Progression, inner: Progression) -> bool:
    """Whether every edge of `inner` is one of `outer`."""
    return inner[0] % outer[0] == 0 and inner[1] % outer[0] == outer[1]


def drop_contained(edges: Iterable[Progression]) -> Progressions:
    """The progressions that no other one contains."""
    kept: list[Progression] = []
    for progression in sorted(set(edges)):
        if not any(covers(outer, progression) for outer in kept):
            kept.append(progression)
    return frozenset(kept)


def period(edges: Iterable[Progression]) -> int:
    """After how many ticks the edges repeat."""
    return lcm(*(progression[0] for progression in edges))


def _join_complete(edges: Progressions) -> Progressions:
    """Replace {r, r + p/q, r + 2p/q, ...} modulo p, all q of them, by r modulo p/q."""
    for size, residue in sorted(edges):
        for parts in range(2, len(edges) + 1):
            step, rest = divmod(size, parts)
            system = {(size, (residue + k * step) % size) for k in range(parts)}
            if rest == 0 and system <= edges:
                return (edges - system) | {(step, residue % step)}
    return edges
