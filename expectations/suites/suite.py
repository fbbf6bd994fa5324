"""What a suite is: a table made from both sides of an audit, and what is expected of it.

Pairs of columns are compared as Spark orders numbers: null equals null, NaN equals NaN and is above infinity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
from great_expectations.execution_engine import PandasExecutionEngine
from great_expectations.expectations.expectation import ColumnPairMapExpectation
from great_expectations.expectations.metrics.map_metric_provider import (
    ColumnPairMapMetricProvider,
    column_pair_condition_partial,
)

from expectations.sides.row import Sides, answer_text, window_text

RTOL = 1e-9  # of sums of floats, which depend on the order of addition
TOLERANCES = ("rtol", "atol")


@dataclass(frozen=True)
class Suite:
    """Expectations of a table, by name; a failing row is shown by its `example_columns`."""

    table: Callable[[Sides], pd.DataFrame]
    example_columns: tuple[str, ...]
    expectations: dict[str, Any]


def readable(rows: pd.DataFrame) -> pd.DataFrame:
    """Return what tells rows apart as a person reads it: query, key, window, and the engine's answer."""
    windows = [window_text(*place) for place in zip(rows["start"], rows["end"], rows["rows"], strict=True)]
    answers = [answer_text(*answer) for answer in zip(rows["text"], rows["number"], strict=True)]
    columns = {"query": rows["query"], "key": rows["key"], "window": windows, "ours": answers}
    return pd.DataFrame(columns, index=rows.index, dtype=object)


def close(a: float | str | None, b: float | str | None, rtol: float = 0.0, atol: float = 0.0) -> bool:
    """Return whether two values are the same, or numbers that differ by no more than the tolerance.

    >>> close(math.nan, math.nan), close(math.nan, None), close(1.0, 1.0 + 1e-12, rtol=1e-9)
    (True, False, True)
    """
    if a == b or (a is None) != (b is None):
        return a == b
    if isinstance(a, float) and isinstance(b, float):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        finite = math.isfinite(a) and math.isfinite(b)
        return finite and abs(a - b) <= atol + rtol * max(abs(a), abs(b))
    return False


def in_order(a: float | None, b: float | None, rtol: float = 0.0, atol: float = 0.0) -> bool:
    """Return whether the first number is at most the second; nothing is said where one is missing or not a number."""
    return a is None or b is None or math.isnan(a) or math.isnan(b) or a <= b or close(a, b, rtol, atol)


class ColumnPairAgree(ColumnPairMapMetricProvider):
    """Both values are the same, or close."""

    condition_metric_name = "column_pair_values.agree"
    condition_value_keys = TOLERANCES

    @column_pair_condition_partial(engine=PandasExecutionEngine)
    def _pandas(cls, column_A: pd.Series, column_B: pd.Series, rtol: float, atol: float, **_: Any) -> pd.Series:  # noqa: N803, N805
        return _hold(close, column_A, column_B, rtol, atol)


class ColumnPairInOrder(ColumnPairMapMetricProvider):
    """The first value is at most the second; nothing is said where one is missing or not a number."""

    condition_metric_name = "column_pair_values.in_order"
    condition_value_keys = TOLERANCES

    @column_pair_condition_partial(engine=PandasExecutionEngine)
    def _pandas(cls, column_A: pd.Series, column_B: pd.Series, rtol: float, atol: float, **_: Any) -> pd.Series:  # noqa: N803, N805
        return _hold(in_order, column_A, column_B, rtol, atol)


def _hold(condition: Callable[..., bool], a: pd.Series, b: pd.Series, rtol: float, atol: float) -> pd.Series:
    """Return whether a condition holds, by row. A missing value is None: pandas would take NaN for one."""
    verdicts = [condition(_plain(x), _plain(y), rtol, atol) for x, y in zip(a, b, strict=True)]
    return pd.Series(verdicts, a.index, dtype=bool)


def _plain(value: Any) -> Any:
    return None if value is pd.NA or value is pd.NaT else value


class PairExpectation(ColumnPairMapExpectation):
    """Tolerances of a comparison of two columns."""

    rtol: float = 0.0
    atol: float = 0.0
    ignore_row_if: Literal["both_values_are_missing", "either_value_is_missing", "neither"] = "neither"

    success_keys = ("column_A", "column_B", *TOLERANCES, "ignore_row_if", "mostly")
    args_keys = ("column_A", "column_B", *TOLERANCES)


class ExpectColumnPairValuesToAgree(PairExpectation):
    """Expect both columns to hold the same values, null and NaN included, floats within a tolerance."""

    map_metric = "column_pair_values.agree"


class ExpectColumnPairValuesToBeInOrder(PairExpectation):
    """Expect the first column to be at most the second."""

    map_metric = "column_pair_values.in_order"
