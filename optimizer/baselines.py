"""What the two plans without an optimizer cost, without building them."""

from __future__ import annotations

import numpy as np

from optimizer.columns import FloatArray
from optimizer.cost.omega import flat_fat
from optimizer.problem import Rows
from optimizer.strategies.bulk_omega import BULK_OMEGA
from optimizer.strategies.pricing import CostModel, Pricing
from optimizer.strategies.units import Units


class Singles:
    """Every query in a tree of its own, as the formulas of Omega see it."""

    def __init__(self, ranges: FloatArray, slides: FloatArray) -> None:
        self.longest, self.overlap = ranges, ranges / slides
        self.queries = np.ones(len(ranges))

    def distinct_ranges(self) -> FloatArray:
        return self.queries

    def flat_fat(self, rates: FloatArray) -> FloatArray:
        return flat_fat.operations(flat_fat.snapped(self.longest * rates))


def no_share_cost(rows: Rows, model: CostModel) -> float:
    """Operations per tick when every query has a tree of its own."""
    problem = rows.problem
    rates = problem.class_rates[rows.class_of]
    total = 0.0
    for techniques, wanted in zip(model.techniques, rows.needs(), strict=True):
        ranges, slides = rows.windows.range[wanted], rows.windows.slide[wanted]
        singles = Singles(ranges.astype(np.float64), slides.astype(np.float64))
        omegas = np.min([BULK_OMEGA[name](singles, rates[wanted]) for name in techniques], axis=0)
        total += model.rate * len(ranges) + model.keys * float((rates[wanted] * omegas).sum())
    return total


def shared_cost(rows: Rows, model: CostModel) -> float:
    """Operations per tick of one tree for all queries."""
    units = Units.classes(rows.problem)
    return Pricing(units, model).tree(units.everything)
