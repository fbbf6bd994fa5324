"""What the two plans without an optimizer cost, without building them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optimizer.cost.load import Load
from optimizer.cost.omega import flat_fat_operations, least_omega, least_omegas, snap_to_whole
from optimizer.cost.tree_cost import feed, finals
from optimizer.strategies.contract.pricing import CostModel
from optimizer.strategies.contract.problem import Problem, Rows
from optimizer.windows.columns import BoolArray, FloatArray, WindowSet


class Singles:
    """Every query in a tree of its own, as the formulas of Omega see it."""

    def __init__(self, ranges: FloatArray, slides: FloatArray) -> None:
        self.longest, self.overlap = ranges, ranges / slides
        self.queries = np.ones(len(ranges))

    def distinct_ranges(self) -> FloatArray:
        return self.queries

    def flat_fat_sums(self, rates: FloatArray) -> FloatArray:
        return flat_fat_operations(snap_to_whole(self.longest * rates))


def no_share_cost(rows: Rows, model: CostModel, shares: Sequence[float]) -> float:
    """Operations per tick and key when every query has a tree of its own.

    `shares` of the events pass a measure's predicate.
    """
    problem = rows.problem
    rates = problem.class_rates[rows.class_of]
    total = 0.0
    for techniques, needed_by, share in zip(model.techniques, rows.needs(), shares, strict=True):
        ranges, slides = rows.windows.range[needed_by], rows.windows.slide[needed_by]
        singles = Singles(ranges.astype(np.float64), slides.astype(np.float64))
        omegas = least_omegas(techniques, singles, rates[needed_by])
        total += feed(share * model.rate, len(ranges)) + float(finals(rates[needed_by], omegas).sum())
    return total


def shared_cost(problem: Problem, model: CostModel, shares: Sequence[float]) -> float:
    """Operations per tick and key of one tree for all queries; equal windows count once, planned one by one or not."""
    windows = problem.windows
    rate = problem.space.rate_float(problem.everything)
    total = 0.0
    for techniques, asks, share in zip(model.techniques, problem.asking, shares, strict=True):
        askers = windows if asks is None else windows.take(asks)
        askers = askers.take(_firsts(askers))
        load = Load.of_columns(askers.range, askers.slide)
        total += feed(share * model.rate, 1) + finals(rate, least_omega(techniques, load, rate))
    return total


def _firsts(windows: WindowSet) -> BoolArray:
    """Which windows differ from the one before: equal ones are neighbours."""
    columns = np.stack([windows.range, windows.slide, windows.offset])
    return np.concatenate([[True], (columns[:, 1:] != columns[:, :-1]).any(axis=0)])
