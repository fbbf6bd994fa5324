"""The cheapest cascade of up to 16 units, exactly, by dynamic programming over subsets.

A tree and all that it feeds, directly or not, are a subset S; its edges are those of S, so its edge rate is known
before its own units U are: A[S] = min over U with the edges of S of E(S) * Omega(U) + what S without U costs when it is
split into subtrees fed at E(S). U may be empty: a tree that answers no query. A split costs its subtrees' A, and E(S)
per measure fed, so splits are kept by weight, the number of measures they are fed for: P[D, w].
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from optimizer.columns import FloatArray, IntArray
from optimizer.strategies.draft import RAW
from optimizer.strategies.subset_table import SubsetTable

SMALLER = 1 - 1e-12


class Solution(NamedTuple):
    """A, P, and the choices behind them: every subset's top tree, every split's first subtree."""

    best: FloatArray
    splits: FloatArray
    tops: IntArray
    firsts: IntArray


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _top(
    subset: int, rates: FloatArray, finals: FloatArray, keys: float, heft: IntArray, free: bool, out: Solution
) -> None:
    """The cheapest top tree of a subset: it has the subset's edges or answers no query, and feeds the rest."""
    rate = rates[subset]
    units = subset
    while True:
        if (free and units == 0) or rates[units] >= rate * SMALLER:
            rest = subset & ~units
            cost = np.inf
            for weight in range(heft[rest] + 1):
                cost = min(cost, out.splits[rest, weight] + weight * rate * keys)
            cost += finals[units]
            if cost < out.best[subset] * SMALLER:
                out.best[subset], out.tops[subset] = cost, units
        if units == 0:
            break
        units = (units - 1) & subset


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _split(subset: int, served: IntArray, heft: IntArray, out: Solution) -> None:
    """The cheapest splits of a subset into two subtrees or more; the first has the smallest unit."""
    low = subset & -subset
    rest = subset & ~low
    others = rest
    while others:
        others = (others - 1) & rest
        first = low | others
        weight, tail = served[first], subset & ~first
        for more in range(heft[tail] + 1):
            cost = out.best[first] + out.splits[tail, more]
            if cost < out.splits[subset, weight + more] * SMALLER:
                out.splits[subset, weight + more] = cost
                out.firsts[subset, weight + more] = first


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _fill(
    rates: FloatArray,
    finals: FloatArray,
    served: IntArray,
    keys: float,
    heft: IntArray,
    helpers: bool,
    out: Solution,
) -> None:
    for subset in range(1, len(rates)):
        _split(subset, served, heft, out)
        free = helpers or subset == len(rates) - 1
        _top(subset, rates, finals, keys, heft, free, out)
        weight = served[subset]
        if out.best[subset] < out.splits[subset, weight] * SMALLER:
            out.splits[subset, weight], out.firsts[subset, weight] = out.best[subset], subset


def solve(table: SubsetTable, keys: float, helpers: bool = True) -> Solution:
    """Fill A and P for all subsets, smaller ones first; without helpers, only a root may answer no query."""
    count = len(table.rates)
    heft = _heft(table.served)
    weights = int(heft[-1]) + 1
    splits = np.full((count, weights), np.inf)
    splits[0, 0] = 0.0
    choices = np.zeros(count, dtype=np.int64), np.zeros((count, weights), dtype=np.int64)
    out = Solution(np.full(count, np.inf), splits, *choices)
    _fill(table.rates, table.finals, table.served, keys, heft, helpers, out)
    return out


def cheapest_cascade(
    table: SubsetTable, events: float, keys: float, helpers: bool = True
) -> list[tuple[int, int, int]]:
    """The trees of the cheapest cascade: own units, the subset whose edges it has, and the place of its feeder."""
    found = solve(table, keys, helpers)
    everything = len(table.rates) - 1
    fed = np.arange(found.splits.shape[1], dtype=np.float64)
    nodes: list[tuple[int, int, int]] = []
    pending = [(part, RAW) for part in _parts(everything, found, table.served, fed * events)]
    while pending:
        subset, feeder = pending.pop()
        top = int(found.tops[subset])
        nodes.append((top, subset, feeder))
        below = _parts(subset & ~top, found, table.served, fed * table.rates[subset] * keys)
        pending += [(part, len(nodes) - 1) for part in below]
    return nodes


def _parts(subset: int, found: Solution, served: IntArray, feeds: FloatArray) -> list[int]:
    """The subtrees of the cheapest split of a subset, when feeding costs so much by weight."""
    weight = int(np.argmin(found.splits[subset] + feeds))
    parts = []
    while subset:
        first = int(found.firsts[subset, weight])
        parts.append(first)
        subset, weight = subset & ~first, weight - int(served[first])
    return parts


def _heft(served: IntArray) -> IntArray:
    """The largest weight that a split of each subset can have: every unit on its own."""
    heft: npt.NDArray[np.int64] = np.zeros(1, dtype=np.int64)
    for unit in range((len(served) - 1).bit_length()):
        heft = np.concatenate([heft, heft + served[1 << unit]])
    return heft
