"""The costs of the two plans that need no optimizer, no_share and shared, without building the plans."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optimizer.cost.load import Load
from optimizer.cost.omega import flat_fat_operations, least_omega, snap_to_whole
from optimizer.strategies.contract.pricing import CostModel
from optimizer.strategies.contract.problem import Problem, Rows
from optimizer.windows.columns import BoolArray, FloatArray, WindowSet


class Singles:
    """A tree of its own for every query, as the formulas of Omega take trees."""

    def __init__(self, ranges: FloatArray, slides: FloatArray) -> None:
        self.longest, self.overlap = ranges, ranges / slides
        self.queries = np.ones(len(ranges))

    def distinct_ranges(self) -> FloatArray:
        """Return the number of distinct ranges in every tree: one."""
        return self.queries

    def flat_fat_sums(self, rates: FloatArray) -> FloatArray:
        """Return the operations of FlatFAT in every tree."""
        return flat_fat_operations(snap_to_whole(self.longest * rates))


def no_share_cost(rows: Rows, model: CostModel, shares: Sequence[float]) -> float:
    """Return the operations per tick and key when every query has a tree of its own.

    `shares` of the events pass a measure's predicate. Two windows (16, 4) cost 1.2 for the events and 0.25 * 4 for the
    answers each, with panes.

    >>> from optimizer.strategies.contract.problem import make_problem
    >>> from optimizer.windows.window import Window
    >>> rows = make_problem(WindowSet.of([Window(16, 4), Window(16, 4)]))
    >>> no_share_cost(rows, CostModel(1.2, (("panes",),)), [1.0])
    4.4
    """
    problem = rows.problem
    rates = problem.class_rates[rows.class_of]
    total = 0.0
    for measure, (wanted, share) in enumerate(zip(rows.needs(), shares, strict=True)):
        ranges, slides = rows.windows.range[wanted], rows.windows.slide[wanted]
        singles = Singles(ranges.astype(np.float64), slides.astype(np.float64))
        omegas = model.least_omegas(measure, singles, rates[wanted])
        fed = model.currency.root_feed(share * model.rate, rates[wanted], np.ones(len(ranges)))
        total += float((fed + model.finals(rates[wanted], omegas)).sum())
    return total


def shared_cost(problem: Problem, model: CostModel, shares: Sequence[float]) -> float:
    """Return the operations per tick and key of one tree for all queries; equal windows count once.

    >>> from optimizer.strategies.contract.problem import make_problem
    >>> from optimizer.windows.window import Window
    >>> rows = make_problem(WindowSet.of([Window(16, 4), Window(16, 4)]))
    >>> shared_cost(rows.problem, CostModel(1.2, (("panes",),)), [1.0])
    2.2
    """
    windows = problem.windows
    rate = problem.space.rate_float(problem.everything)
    total = 0.0
    for techniques, wanted, share in zip(model.techniques, problem.asking, shares, strict=True):
        asking = windows if wanted is None else windows.take(wanted)
        asking = asking.take(_first_of_equals(asking))
        load = Load.of_columns(asking.range, asking.slide)
        least = least_omega(techniques, load, rate, model.currency.final)
        fed = model.currency.root_feed(share * model.rate, np.array([rate]), np.ones(1))
        total += float((fed + model.finals(np.array([rate]), np.array([least])))[0])
    return total


def _first_of_equals(windows: WindowSet) -> BoolArray:
    """Mark the windows that differ from the one before: equal ones are neighbours."""
    columns = np.stack([windows.range, windows.slide, windows.offset])
    return np.concatenate([[True], (columns[:, 1:] != columns[:, :-1]).any(axis=0)])
