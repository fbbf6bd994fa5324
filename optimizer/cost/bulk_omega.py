"""Omega of many candidate trees at once: the formulas of optimizer/cost/omega over arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from optimizer.cost.omega.slick_deque_noninv import INVERSE_FACTORIALS
from optimizer.windows.columns import FloatArray

TERMS = np.array(INVERSE_FACTORIALS)


class Candidates(Protocol):
    """Trees under consideration, one per position, with what any Omega needs to know of them."""

    @property
    def queries(self) -> FloatArray:
        """Q, distinct windows."""

    @property
    def overlap(self) -> FloatArray:
        """Summed overlap factors."""

    @property
    def longest(self) -> FloatArray:
        """The longest range."""

    def distinct_ranges(self) -> FloatArray:
        """How many ranges there are."""

    def flat_fat(self, rates: FloatArray) -> FloatArray:
        """The sum of f(P) when the trees have these edge rates."""


def panes(trees: Candidates, rates: FloatArray) -> FloatArray:
    """The overlap factors, summed."""
    return trees.overlap


def flat_fat(trees: Candidates, rates: FloatArray) -> FloatArray:
    """The sum of f(P)."""
    return trees.flat_fat(rates)


def flat_fit(trees: Candidates, rates: FloatArray) -> FloatArray:
    """3 Q."""
    return 3.0 * trees.queries


def daba(trees: Candidates, rates: FloatArray) -> FloatArray:
    """5 Q."""
    return 5.0 * trees.queries


def slick_deque_inv(trees: Candidates, rates: FloatArray) -> FloatArray:
    """Twice the number of distinct ranges."""
    return 2.0 * trees.distinct_ranges()


def slick_deque_noninv(trees: Candidates, rates: FloatArray) -> FloatArray:
    """2 - 2/Pmax + Q + the sum of 1/i! up to Pmax."""
    longest = np.maximum(1.0, trees.longest * rates)
    terms = np.minimum(np.rint(longest), len(TERMS) - 1).astype(np.int64)
    omega: FloatArray = 2 - 2 / longest + trees.queries + TERMS[terms]
    return omega


BULK_OMEGA: dict[str, Callable[[Candidates, FloatArray], FloatArray]] = {
    "panes": panes,
    "panes_inv": slick_deque_inv,
    "flat_fat": flat_fat,
    "b_int": flat_fat,
    "flat_fit": flat_fit,
    "two_stacks": flat_fit,
    "daba": daba,
    "slick_deque_inv": slick_deque_inv,
    "slick_deque_noninv": slick_deque_noninv,
    "two_stacks_block": flat_fit,
}
