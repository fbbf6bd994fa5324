"""Expectations of column pairs, as Spark orders numbers: null equals null, NaN equals NaN and is above infinity."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

from great_expectations.execution_engine.sparkdf_execution_engine import SparkDFExecutionEngine
from great_expectations.expectations.expectation import ColumnPairMapExpectation, render_suite_parameter_string
from great_expectations.expectations.metrics.map_metric_provider.column_pair_condition_partial import (
    column_pair_condition_partial,
)
from great_expectations.expectations.metrics.map_metric_provider.column_pair_map_metric_provider import (
    ColumnPairMapMetricProvider,
)
from great_expectations.render.components import LegacyRendererType, RenderedStringTemplateContent
from great_expectations.render.renderer.renderer import renderer
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

TOLERANCES = ("rtol", "atol")


def close(a: Column, b: Column, rtol: float, atol: float) -> Column:
    """Whether two numbers differ by no more than the tolerance; what is not finite has to be the same."""
    finite = (F.abs(a) < math.inf) & (F.abs(b) < math.inf)
    near = F.abs(a - b) <= F.lit(atol) + F.lit(rtol) * F.greatest(F.abs(a), F.abs(b))
    return a.eqNullSafe(b) | F.coalesce(finite & near, F.lit(False))


class ColumnPairAgree(ColumnPairMapMetricProvider):
    """Both values are the same, or close."""

    condition_metric_name = "column_pair_values.agree"
    condition_value_keys = TOLERANCES

    @column_pair_condition_partial(engine=SparkDFExecutionEngine)
    def _spark(cls, column_A: Column, column_B: Column, rtol: float, atol: float, **_: Any) -> Column:  # noqa: N803, N805
        return close(column_A, column_B, rtol, atol) if rtol or atol else column_A.eqNullSafe(column_B)


class ColumnPairInOrder(ColumnPairMapMetricProvider):
    """The first value is at most the second; nothing is said where one is missing or not a number."""

    condition_metric_name = "column_pair_values.in_order"
    condition_value_keys = TOLERANCES

    @column_pair_condition_partial(engine=SparkDFExecutionEngine)
    def _spark(cls, column_A: Column, column_B: Column, rtol: float, atol: float, **_: Any) -> Column:  # noqa: N803, N805
        unknown = column_A.isNull() | column_B.isNull() | F.isnan(column_A) | F.isnan(column_B)
        return unknown | (column_A <= column_B) | close(column_A, column_B, rtol, atol)


class PairExpectation(ColumnPairMapExpectation):
    """Tolerances, and the sentence that Data Docs show."""

    sentence: ClassVar[str]  # what is expected of $column_A and $column_B
    rtol: float = 0.0
    atol: float = 0.0
    ignore_row_if: Literal["both_values_are_missing", "either_value_is_missing", "neither"] = "neither"

    success_keys = ("column_A", "column_B", *TOLERANCES, "ignore_row_if", "mostly")
    args_keys = ("column_A", "column_B", *TOLERANCES)

    @classmethod
    @renderer(renderer_type=LegacyRendererType.PRESCRIPTIVE)
    @render_suite_parameter_string
    def _prescriptive_renderer(
        cls, configuration: Any = None, result: Any = None, runtime_configuration: dict[Any, Any] | None = None
    ) -> list[RenderedStringTemplateContent]:
        params = {name: configuration.kwargs.get(name, 0.0) for name in ("column_A", "column_B", *TOLERANCES)}
        within = ", within $rtol relative and $atol absolute" if params["rtol"] or params["atol"] else ""
        template = {"template": f"{cls.sentence}{within}.", "params": params}
        return [RenderedStringTemplateContent(content_block_type="string_template", string_template=template)]


class ExpectColumnPairValuesToAgree(PairExpectation):
    """Expect both columns to hold the same values, null and NaN included, floats within a tolerance."""

    map_metric = "column_pair_values.agree"
    sentence = "$column_A must equal $column_B, a missing value only a missing one"


class ExpectColumnPairValuesToBeInOrder(PairExpectation):
    """Expect the first column to be at most the second."""

    map_metric = "column_pair_values.in_order"
    sentence = "$column_A must be at most $column_B"
