"""A new aggregate has its line in every table that needs one; these tests name the table that lacks it."""

from __future__ import annotations

from jobs.kernels.algebra.finish import FINISH
from jobs.kernels.algebra.operators import OPS
from optimizer.algebra.aggregates import AGGREGATES, COMPONENTS
from optimizer.catalog.spark_types.results import RESULTS
from optimizer.rewrite.partials import FINALS, FINISHED_MOMENTS
from tests.oracle.naive_aggregates import BY_ORDER, BY_SPARK, OF_PAIRS, OF_SHARES, OF_VALUES

SHARED = {name for name, aggregate in AGGREGATES.items() if aggregate.shared}
ALGEBRAIC = {name for name, aggregate in AGGREGATES.items() if aggregate.kind == "algebraic"}


def test_it_is_finished_from_components_that_have_operators() -> None:
    needed = {need.component for aggregate in AGGREGATES.values() for need in aggregate.needs}
    tallies = {name for name, component in COMPONENTS.items() if component.tally}
    assert needed == set(COMPONENTS) == {component for component, _ in OPS} | tallies


def test_its_answers_have_a_type() -> None:
    assert set(RESULTS) >= SHARED - {"sum_squares"}  # which is the sum of another argument


def test_it_is_finished_by_the_engine_and_in_sql() -> None:
    assert set(FINISH) == set(FINALS) | set(FINISHED_MOMENTS) == ALGEBRAIC


def test_the_oracle_knows_it() -> None:
    assert {*OF_VALUES, *BY_ORDER, *OF_PAIRS, *OF_SHARES, *BY_SPARK} >= SHARED
