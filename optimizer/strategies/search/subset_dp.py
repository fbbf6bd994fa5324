"""The cheapest cascade of up to 16 units, exactly, by dynamic programming over subsets.

A tree and all that it feeds, directly or not, are a subset S; its edges are those of S, so its edge rate is known
before its own units U are: A[S] = min over U with the edges of S of E(S) * Omega(U) + what S without U costs when it is
split into subtrees fed at E(S). U may be empty: a tree that answers no query. A split costs its subtrees' A, and E(S)
per measure fed, so splits are kept by weight, the number of measures they are fed for: P[D, w].
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from optimizer.cost.tree_cost import RAW
from optimizer.strategies.search.subset_table import SubsetTable
from optimizer.windows.columns import FloatArray, IntArray

SMALLER = 1 - 1e-12
FEW = 8  # units that plain Python solves at once


class Solution(NamedTuple):
    """A, P, and the choices behind them: every subset's top tree, every split's first subtree."""

    best: FloatArray
    splits: FloatArray
    tops: IntArray
    firsts: IntArray


def _fill(table: SubsetTable, heft: IntArray, helpers: bool, out: Solution) -> None:
    """Smaller subsets first: the splits into two subtrees or more, the top tree, then the whole as one subtree."""
    count = len(table.rates)
    for subset in range(1, count):
        low = subset & -subset
        rest = subset & ~low
        others = rest
        while others:  # the first subtree has the smallest unit
            others = (others - 1) & rest
            first, tail = low | others, rest & ~others
            weight = table.served[first]
            for more in range(heft[tail] + 1):
                cost = out.best[first] + out.splits[tail, more]
                if cost < out.splits[subset, weight + more] * SMALLER:
                    out.splits[subset, weight + more] = cost
                    out.firsts[subset, weight + more] = first
        rate = table.rates[subset]
        units = subset
        while units >= 0:  # the top tree has the subset's edges, or answers no query
            free = units == 0 and (helpers or subset == count - 1)
            if free or (units and table.rates[units] >= rate * SMALLER):
                below = subset & ~units
                cost = np.inf
                for weight in range(heft[below] + 1):
                    cost = min(cost, out.splits[below, weight] + weight * rate)
                cost += table.finals[units]
                if cost < out.best[subset] * SMALLER:
                    out.best[subset], out.tops[subset] = cost, units
            units = (units - 1) & subset if units else -1
        weight = table.served[subset]
        if out.best[subset] < out.splits[subset, weight] * SMALLER:
            out.splits[subset, weight], out.firsts[subset, weight] = out.best[subset], subset


@cache
def _compiled() -> Callable[..., None]:
    """The same loops by numba, which takes seconds to load the first time and pays from some nine units on."""
    import numba

    compiled: Callable[..., None] = numba.njit(cache=True)(_fill)
    return compiled


def solve(table: SubsetTable, helpers: bool = True) -> Solution:
    """Fill A and P for all subsets, smaller ones first; without helpers, only a root may answer no query."""
    count = len(table.rates)
    heft = _heft(table.served)
    weights = int(heft[-1]) + 1
    splits = np.full((count, weights), np.inf)
    splits[0, 0] = 0.0
    choices = np.zeros(count, dtype=np.int64), np.zeros((count, weights), dtype=np.int64)
    out = Solution(np.full(count, np.inf), splits, *choices)
    fill = _fill if count <= 1 << FEW else _compiled()
    fill(table, heft, helpers, out)
    return out


def cheapest_cascade(table: SubsetTable, events: float, helpers: bool = True) -> list[tuple[int, int, int]]:
    """The trees of the cheapest cascade: own units, the subset whose edges it has, and the place of its feeder."""
    solution = solve(table, helpers)
    everything = len(table.rates) - 1
    fed = np.arange(solution.splits.shape[1], dtype=np.float64)
    nodes: list[tuple[int, int, int]] = []
    pending = [(part, RAW) for part in _parts(everything, solution, table.served, fed * events)]
    while pending:
        subset, feeder = pending.pop()
        top = int(solution.tops[subset])
        nodes.append((top, subset, feeder))
        below = _parts(subset & ~top, solution, table.served, fed * table.rates[subset])
        pending += [(part, len(nodes) - 1) for part in below]
    return nodes


def _parts(subset: int, solution: Solution, served: IntArray, feeds: FloatArray) -> list[int]:
    """The subtrees of the cheapest split of a subset, when feeding costs so much by weight."""
    weight = int(np.argmin(solution.splits[subset] + feeds))
    parts = []
    while subset:
        first = int(solution.firsts[subset, weight])
        parts.append(first)
        subset, weight = subset & ~first, weight - int(served[first])
    return parts


def _heft(served: IntArray) -> IntArray:
    """The largest weight that a split of each subset can have: every unit on its own."""
    heft: npt.NDArray[np.int64] = np.zeros(1, dtype=np.int64)
    for unit in range((len(served) - 1).bit_length()):
        heft = np.concatenate([heft, heft + served[1 << unit]])
    return heft
