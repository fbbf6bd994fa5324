"""The cheapest cascade of up to 16 units, exactly, by dynamic programming over subsets.

A tree and all that it feeds, directly or not, are a subset S; its edges are those of S, so its edge rate is known
before its own units U are: A[S] = min over U with the edges of S of E(S) * Omega(U) + what S without U costs when it is
split into subtrees fed at E(S). A split costs its subtrees' A and E(S) per measure fed, so splits are kept by weight,
the number of measures they are fed for: P[D, w].
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from optimizer.strategies.subset_table import SubsetTable

INFINITY = np.inf


@numba.njit(cache=True)
def solve(
    rates: npt.NDArray[np.float64],
    finals: npt.NDArray[np.float64],
    served: npt.NDArray[np.int64],
    keys: float,
    weights: int,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """A, P and the choices behind them: the units of every subset's top tree, the first subtree of every split."""
    count = len(rates)
    best = np.full(count, INFINITY)
    tops = np.zeros(count, dtype=np.int64)
    splits = np.full((count, weights + 1), INFINITY)
    firsts = np.zeros((count, weights + 1), dtype=np.int64)
    splits[0, 0] = 0.0
    for subset in range(1, count):
        _top(subset, rates, finals, keys, splits, best, tops)
        _split(subset, served, best, splits, firsts)
    return best, splits, tops, firsts


@numba.njit(cache=True)
def _top(
    subset: int,
    rates: npt.NDArray[np.float64],
    finals: npt.NDArray[np.float64],
    keys: float,
    splits: npt.NDArray[np.float64],
    best: npt.NDArray[np.float64],
    tops: npt.NDArray[np.int64],
) -> None:
    """The cheapest top tree of a subset: it has the subset's edges, and feeds the rest."""
    rate = rates[subset]
    units = subset
    while units:
        if rates[units] >= rate * (1 - 1e-12):
            rest = splits[subset & ~units]
            cost = INFINITY
            for weight in range(len(rest)):
                cost = min(cost, rest[weight] + weight * rate * keys)
            cost += finals[units]
            if cost < best[subset] * (1 - 1e-12):
                best[subset], tops[subset] = cost, units
        units = (units - 1) & subset


@numba.njit(cache=True)
def _split(
    subset: int,
    served: npt.NDArray[np.int64],
    best: npt.NDArray[np.float64],
    splits: npt.NDArray[np.float64],
    firsts: npt.NDArray[np.int64],
) -> None:
    """The cheapest splits of a subset into subtrees, one per weight; the first has the smallest unit."""
    low = subset & -subset
    rest = subset & ~low
    others = rest
    while True:
        first = low | others
        weight = served[first]
        tail = splits[subset & ~first]
        for more in range(len(tail) - weight):
            cost = best[first] + tail[more]
            if cost < splits[subset, weight + more] * (1 - 1e-12):
                splits[subset, weight + more] = cost
                firsts[subset, weight + more] = first
        if not others:
            break
        others = (others - 1) & rest


def cheapest_forest(table: SubsetTable, events: float, keys: float) -> list[int]:
    """The trees of the cheapest cascade, with or without a root that answers no query."""
    everything = len(table.rates) - 1
    weights = int(table.served[1 << np.arange(everything.bit_length())].sum())
    _, splits, tops, firsts = solve(table.rates, table.finals, table.served, keys, weights)
    fed = np.arange(weights + 1)
    alone = splits[everything] + fed * events
    rooted = splits[everything] + fed * table.rates[everything] * keys + events * table.served[everything]
    weight = int(np.argmin(np.minimum(alone, rooted)))
    forest: list[int] = []
    pending = _subtrees(everything, weight, table.served, firsts)
    while pending:
        subset = pending.pop()
        top = int(tops[subset])
        forest.append(top)
        rest = subset & ~top
        pending += _subtrees(
            rest, int(np.argmin(splits[rest] + fed * table.rates[subset] * keys)), table.served, firsts
        )
    return sorted(forest)


def _subtrees(subset: int, weight: int, served: npt.NDArray[np.int64], firsts: npt.NDArray[np.int64]) -> list[int]:
    """The subtrees of the cheapest split of a subset that has this weight."""
    found = []
    while subset:
        first = int(firsts[subset, weight])
        found.append(first)
        subset, weight = subset & ~first, weight - int(served[first])
    return found
