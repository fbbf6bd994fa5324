"""Operators and functions on vectors: values, nulls, and which rows are refused; against Spark in test_language.py."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from jobs.engine.events.expressions import parse_cached
from jobs.engine.events.language import arithmetic, casts, comparisons, decimals, mathematics, times
from jobs.engine.events.language.build import Builder
from jobs.engine.events.language.nodes import evaluate_node
from jobs.engine.events.language.vectors import (
    DATE,
    DOUBLE,
    INSTANT,
    INT,
    LONG,
    TEXT,
    TRUTH,
    NotExact,
    from_arrow,
    to_arrow,
)

Kernel = Callable[..., Any]
MONEY = pa.decimal128(5, 2)
TINY, NAN = pa.int8(), float("nan")


def apply(kernel: Kernel, kind: pa.DataType, *columns: pa.Array) -> tuple[list[Any], list[bool]]:
    """Return the answers of a kernel, and which rows it refuses."""
    vector = kernel(kind, *(from_arrow(column) for column in columns))
    rows = max(len(column) for column in columns)
    refused = [False] * rows if vector.errors is None else [bool(error) for error in vector.errors]
    return to_arrow(vector, rows).to_pylist(), refused


@pytest.mark.parametrize(
    ("kernel", "kind", "a", "b", "expected"),
    [
        (arithmetic.add, TINY, [100, 100, None], [27, 28, 1], [127, "refused", None]),
        (arithmetic.subtract, TINY, [-100, 0], [29, -128], ["refused", "refused"]),
        (arithmetic.multiply, LONG, [-1, 1 << 62, 3], [-(1 << 63), 2, 4], ["refused", "refused", 12]),
        (arithmetic.divide, DOUBLE, [1.0, None, 1.0], [4.0, 0.0, 0.0], [0.25, None, "refused"]),
        (arithmetic.divide_whole, LONG, [-7, -(1 << 63), 1], [2, -1, 0], [-3, "refused", "refused"]),
        (arithmetic.remainder, LONG, [-7, -(1 << 63)], [3, -1], [-1, 0]),
        (arithmetic.positive_remainder, LONG, [-7, 7], [3, -3], [2, 1]),
        (arithmetic.shift_left, INT, [1, 1], [33, 3], [2, 8]),
    ],
)
def test_arithmetic(kernel: Kernel, kind: pa.DataType, a: list[Any], b: list[Any], expected: list[Any]) -> None:
    """Overflows and divisions by zero are refused row by row; a row without an answer is not."""
    values, refused = apply(kernel, kind, pa.array(a, kind), pa.array(b, INT if kind == INT else kind))
    assert refused == [answer == "refused" for answer in expected]
    assert values == [None if answer == "refused" else answer for answer in expected]


@pytest.mark.parametrize(
    ("kernel", "kind", "expected"),
    [
        (decimals.add, pa.decimal128(6, 2), "3.00"),
        (decimals.multiply, pa.decimal128(11, 4), "1.2500"),
        (decimals.divide, pa.decimal128(13, 8), "0.20000000"),
        (decimals.remainder, MONEY, "0.50"),
        (decimals.divide, pa.decimal128(38, 0), "0"),
    ],
)
def test_decimals(kernel: Kernel, kind: pa.DataType, expected: str) -> None:
    """0.50 and 2.50: each operator in the precision and scale that its type has."""
    half, more = pa.array([Decimal("0.50")], MONEY), pa.array([Decimal("2.50")], MONEY)
    assert apply(kernel, kind, half, more) == ([Decimal(expected)], [False])


def test_a_decimal_with_too_many_digits_is_refused() -> None:
    large = pa.array([Decimal("999.99"), Decimal("1.00")], MONEY)
    assert apply(decimals.add, MONEY, large, large) == ([None, Decimal("2.00")], [True, False])


@pytest.mark.parametrize(
    ("column", "to", "expected"),
    [
        (pa.array([2.9, -2.9, 300.0]), TINY, [2, -2, "refused"]),
        (pa.array([" 7 ", "x", None]), INT, [7, "refused", None]),
        (pa.array(["2024-02-29", "2023-02-29"]), DATE, ["2024-02-29", "refused"]),
        (pa.array([True, False]), TEXT, ["true", "false"]),
        (pa.array([Decimal("1.25")], MONEY), pa.decimal128(4, 1), [Decimal("1.3")]),
        (pa.array([1.5]), INSTANT, ["1970-01-01 00:00:01.500000+00:00"]),
        (pa.array(["yes", "nope"]), TRUTH, [True, "refused"]),
    ],
)
def test_casts(column: pa.Array, to: pa.DataType, expected: list[Any]) -> None:
    """CAST refuses what is no value of the type; TRY_CAST gives null instead."""
    values, refused = apply(casts.cast("UTC"), to, column)
    is_time = to in (DATE, INSTANT)
    shown = [str(value) if is_time and value is not None else value for value in values]
    assert refused == [answer == "refused" for answer in expected]
    assert shown == [None if answer == "refused" else answer for answer in expected]
    assert apply(casts.try_cast("UTC"), to, column) == (values, [False] * len(column))


def test_logic_has_three_values() -> None:
    a = pa.array([True, True, False, None, None])
    b = pa.array([True, None, None, False, True])
    assert apply(comparisons.both, TRUTH, a, b)[0] == [True, None, False, False, None]
    assert apply(comparisons.either, TRUTH, a, b)[0] == [True, True, None, None, True]
    assert apply(comparisons.invert, TRUTH, a)[0] == [False, False, True, None, None]
    assert apply(comparisons.equal_null_safe, TRUTH, a, b)[0] == [True, False, False, False, False]


def test_nan_is_above_every_number() -> None:
    a, b = pa.array([NAN, 1.0, None]), pa.array([float("inf"), NAN, 2.0])
    assert str(apply(comparisons.greatest, DOUBLE, a, b)[0]) == "[nan, nan, 2.0]"
    assert apply(comparisons.least, DOUBLE, a, b)[0] == [float("inf"), 1.0, 2.0]
    assert apply(comparisons.nan_value, DOUBLE, a, b)[0][:2] == [float("inf"), 1.0]


def test_a_choice_takes_the_first_condition_that_holds() -> None:
    first, second = pa.array([True, None, False]), pa.array([True, True, False])
    answers = [pa.array([1, 1, 1]), pa.array([2, 2, 2]), pa.array([3, 3, 3])]
    assert apply(comparisons.choose, LONG, first, answers[0], second, answers[1], answers[2])[0] == [1, 2, 3]


@pytest.mark.parametrize(
    ("to_even", "digits", "values", "expected"),
    [
        (False, 0, [2.5, -2.5, 0.5], [3.0, -3.0, 1.0]),
        (True, 0, [2.5, -2.5, 0.5], [2.0, -2.0, 0.0]),
        (False, 2, [2.675, 1.005], [2.68, 1.01]),  # as they are printed, not as they are stored
        (False, -1, [15.0, 14.9], [20.0, 10.0]),
    ],
)
def test_rounding(to_even: bool, digits: int, values: list[float], expected: list[float]) -> None:
    assert apply(mathematics.round_to(digits, to_even), DOUBLE, pa.array(values))[0] == expected


def test_whole_numbers_of_doubles() -> None:
    values = pa.array([2.5, -2.5, NAN, 1e19])
    assert apply(mathematics.floor, LONG, values) == ([2, -3, 0, None], [False, False, False, True])
    assert apply(mathematics.ceiling, LONG, values)[0][:3] == [3, -2, 0]


def test_days_of_the_calendar() -> None:
    dates = pa.array(["2024-02-29", "1969-12-31"]).cast(DATE)
    parts = (times.year, times.quarter, times.month, times.day, times.day_of_week, times.day_of_year)
    assert [apply(part, INT, dates)[0] for part in parts] == [
        [2024, 1969], [1, 4], [2, 12], [29, 31], [5, 4], [60, 365],
    ]  # fmt: skip


def test_a_clock_that_is_set_shows_hours_twice_or_not_at_all() -> None:
    """Berlin skips 02:00 to 03:00 in March 2024, and has it twice in October: the earlier one counts."""
    clocks = pa.array(["2024-03-31 02:30:00", "2024-10-27 02:30:00"]).cast(pa.timestamp("us"))
    instants = to_arrow(times.find_instants(from_arrow(clocks), "Europe/Berlin"), 2)
    assert [str(instant) for instant in instants.to_pylist()] == [
        "2024-03-31 01:30:00+00:00",
        "2024-10-27 00:30:00+00:00",
    ]
    hours = times.clock_of(3_600_000_000, 24)(INT, times.read_clocks(from_arrow(instants), "Europe/Berlin"))
    assert hours.values.tolist() == [3, 2]


def test_truncating_to_a_unit() -> None:
    instants = pa.array(["2024-05-15 12:34:56Z"]).cast(INSTANT)
    for unit, expected in (("month", "2024-05-01"), ("week", "2024-05-13"), ("hour", "2024-05-15 12:00:00")):
        assert str(apply(times.truncate(unit, "UTC"), INSTANT, instants)[0][0]).startswith(expected)
    assert apply(times.truncate("fortnight", "UTC"), INSTANT, instants)[0] == [None]


def test_the_builder_inserts_the_conversions_of_sparks_analysis() -> None:
    """A short and a long are added as longs, and divided as doubles; what Spark alone evaluates is left to it."""
    builder = Builder({"small": pa.int16(), "large": LONG, "word": TEXT}, "UTC")
    columns = {"small": pa.array([1, None], pa.int16()), "large": pa.array([2, 3])}
    vectors = {name: from_arrow(column) for name, column in columns.items()}
    for sql, kind, expected in (("small + large", LONG, [3, None]), ("small / large", DOUBLE, [0.5, None])):
        node = builder.build(parse_cached(sql))
        assert node.type == kind
        assert to_arrow(evaluate_node(node, vectors, {}), 2).to_pylist() == expected
    with pytest.raises(NotExact):
        builder.build(parse_cached("CAST(large AS BINARY)"))
