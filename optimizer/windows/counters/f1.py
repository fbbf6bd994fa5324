"""F1: inclusion and exclusion over all subsets, residues by the Chinese remainder theorem. 2^n: the reference only."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations

from optimizer.windows.edges import Edges, Progression, intersection, period


def applies(edges: Edges) -> bool:
    """Return whether there are at most 2^16 subsets.

    >>> applies(((4, 0), (6, 0))), applies(tuple((size, 0) for size in range(2, 40)))
    (True, False)
    """
    return len(edges) <= 16


def rate(edges: Edges) -> Fraction:
    """Return the sum over subsets of (-1)^(size + 1) / (least common multiple), where the subset has a common edge.

    >>> rate(((4, 0), (6, 0)))  # 1/4 + 1/6 - 1/12
    Fraction(1, 3)
    """
    length, count = period(edges), 0
    for size in range(1, len(edges) + 1):
        sign = 1 if size % 2 else -1
        for subset in combinations(edges, size):
            common = common_edges(subset)
            if common:
                count += sign * (length // common[0])
    return Fraction(count, length)


def common_edges(edges: Iterable[Progression]) -> Progression | None:
    """Return the edges that all progressions have, one progression again; None when there are none.

    >>> common_edges([(4, 1), (6, 3)])
    (12, 9)
    """
    common: Progression | None = (1, 0)
    for progression in edges:
        if common is None:
            break
        common = intersection(common, progression)
    return common
