"""Evaluates an expression on Arrow columns where that gives exactly what Spark gives; otherwise says so.

The file lane uses it. What is not listed here (functions, division, decimals, casts of texts ...) is left to Spark,
in the frame lane: `NotExact` says so before any event is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from optimizer.catalog.sql.expressions import parse
from optimizer.catalog.sql.numbers import Number, number_of

Value = Any  # pa.Array, pa.ChunkedArray or pa.Scalar
Columns = Mapping[str, Value]

ARITHMETIC: dict[type, Callable[..., Value]] = {
    exp.Add: pc.add_checked,  # checked: Spark's ANSI mode refuses to overflow, too
    exp.Sub: pc.subtract_checked,
    exp.Mul: pc.multiply_checked,
}
COMPARISONS: dict[type, Callable[..., Value]] = {
    exp.EQ: pc.equal,
    exp.NEQ: pc.not_equal,
    exp.GT: pc.greater,
    exp.GTE: pc.greater_equal,
    exp.LT: pc.less,
    exp.LTE: pc.less_equal,
}


class CachedColumns(dict[str, Value]):
    """Columns that remember the comparisons made on them, which many predicates have in common."""

    def __init__(self, columns: Columns) -> None:
        super().__init__(columns)
        self.compared: dict[str, Value] = {}


TEXT = "text"  # of a comparison, in its node's own dictionary
WHOLE = {"int": pa.int32(), "bigint": pa.int64()}  # of literals
WIDTHS = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]


class NotExact(Exception):  # noqa: N818 (not an error: it chooses the lane)
    """Arrow would not give Spark's answer for this expression."""


@lru_cache(maxsize=8_192)
def parse_cached(sql: str) -> exp.Expr:
    """Return the tree of an expression, parsed once; nobody may change it."""
    return parse(sql)


def evaluate(sql: str, columns: Columns) -> Value:
    """Return the value of an expression for every row; ArrowInvalid where Spark's ANSI mode would refuse a row, too.

    >>> evaluate("n + 1", {"n": pa.array([1, None])}).to_pylist()
    [2, None]
    """
    value = _value(parse_cached(sql), columns)
    if isinstance(value, Decimal):
        raise NotExact(sql)
    return value


def evaluate_some(sql: str, columns: Columns, rows: npt.NDArray[np.bool_]) -> Value:
    """Return the value of an expression where `rows` is true, and null elsewhere, whatever it would be there."""
    return _some(parse_cached(sql), columns, rows)


def _some(node: Any, columns: Columns, rows: npt.NDArray[np.bool_]) -> Value:
    positions = np.flatnonzero(rows)
    value = _value(node, {name: column.take(pa.array(positions)) for name, column in columns.items()})
    if isinstance(value, pa.Scalar):
        return value
    place = np.full(len(rows), -1)
    place[positions] = np.arange(len(positions))
    return value.take(pa.array(place, mask=place < 0))


def _value(node: Any, columns: Columns) -> Value:
    kind = type(node)
    if kind in ARITHMETIC:
        return ARITHMETIC[kind](*_numbers(_value(node.this, columns), _value(node.expression, columns)))
    if kind in COMPARISONS:
        return _compared(node, columns)
    if kind not in NODES:
        raise NotExact(node.sql("spark"))
    return NODES[kind](node, columns)


def _column(node: exp.Expression, columns: Columns) -> Value:
    column = columns.get(node.name)
    if column is None:
        raise NotExact(f"the first file has no column {node.name}")
    if node.args.get("table"):
        raise NotExact(node.sql("spark"))
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not (_number(column.type) or pa.types.is_boolean(column.type) or _plain(column.type)):
        raise NotExact(f"{node.name} is a {column.type}")
    return column


def _literal(node: exp.Expression, columns: Columns) -> Value:
    return pa.scalar(node.name) if node.is_string else _number_literal(Number(node.name))


def _number_literal(number: Number) -> Value:
    if number.kind in WHOLE:
        return pa.scalar(int(number.text), WHOLE[number.kind])
    if number.kind == "double":
        return pa.scalar(float(number.text))
    return Decimal(float(number.text))  # 1.5 is a decimal to Spark; beside a double, the double nearest to it


class Decimal:
    """A decimal literal: exact only where Spark turns it into a double."""

    type = pa.decimal128(38, 18)

    def __init__(self, value: float) -> None:
        self.value = value


def _numbers(a: Value, b: Value) -> tuple[Value, Value]:
    """Return both sides in the type Spark computes in."""
    if isinstance(a, Decimal) or isinstance(b, Decimal):
        return _doubles(a, b)
    if not (_number(a.type) and _number(b.type)):
        raise NotExact(f"{a.type} and {b.type}")
    if pa.types.is_floating(a.type) or pa.types.is_floating(b.type):
        if pa.float32() in (a.type, b.type):
            raise NotExact("single precision")
        return a.cast(pa.float64(), safe=False), b.cast(pa.float64(), safe=False)
    width = WIDTHS[max(WIDTHS.index(a.type), WIDTHS.index(b.type))]
    return a.cast(width), b.cast(width)


def _doubles(a: Value, b: Value) -> tuple[Value, Value]:
    if pa.float64() not in (a.type, b.type):  # two decimals, too: Spark adds 0.1 and 0.2 in tenths
        raise NotExact("a decimal beside something that is not a double")
    first, second = (pa.scalar(side.value) if isinstance(side, Decimal) else side for side in (a, b))
    return first, second


def _compared(node: Any, columns: Columns) -> Value:
    if not isinstance(columns, CachedColumns):
        return _compare(type(node), _value(node.this, columns), _value(node.expression, columns))
    text = node.meta.get(TEXT) or node.meta.setdefault(TEXT, node.sql("spark"))
    if text not in columns.compared:
        columns.compared[text] = _compare(type(node), _value(node.this, columns), _value(node.expression, columns))
    return columns.compared[text]


def _compare(kind: type, a: Value, b: Value) -> Value:
    """Compare in Spark's order, where NaN equals NaN and is above every number."""
    if isinstance(a, Decimal) or isinstance(b, Decimal) or (_number(a.type) and _number(b.type)):
        a, b = _numbers(a, b)
    elif a.type != b.type or not (_plain(a.type) or pa.types.is_boolean(a.type)):
        raise NotExact(f"{a.type} and {b.type}")
    answer = COMPARISONS[kind](a, b)
    if not pa.types.is_floating(a.type) or not (_may_hold_nan(a) or _may_hold_nan(b)):
        return answer
    a_nan, b_nan = pc.is_nan(a), pc.is_nan(b)
    if kind in (exp.EQ, exp.NEQ):
        both = pc.and_kleene(a_nan, b_nan)
        return pc.or_kleene(answer, both) if kind is exp.EQ else pc.and_kleene(answer, pc.invert(both))
    if kind is exp.GT:
        return pc.or_kleene(answer, pc.and_kleene(a_nan, pc.invert(b_nan)))
    if kind is exp.GTE:
        return pc.or_kleene(answer, pc.and_kleene(a_nan, _true_or_null(b_nan)))
    if kind is exp.LT:
        return pc.or_kleene(answer, pc.and_kleene(b_nan, pc.invert(a_nan)))
    return pc.or_kleene(answer, pc.and_kleene(b_nan, _true_or_null(a_nan)))


def _may_hold_nan(side: Value) -> bool:
    """Whether a side may hold NaN: a sum with NaN is NaN; so is one of opposite infinities, which only costs time."""
    total = (side if isinstance(side, pa.Scalar) else pc.sum(side)).as_py()
    return total is not None and total != total


def _true_or_null(test: Value) -> Value:
    """Return true, or null where the test is null: a comparison with null stays null."""
    return pc.or_kleene(test, pc.invert(test))


def _logic(node: exp.Expression, columns: Columns) -> Value:
    operator = pc.and_kleene if isinstance(node, exp.And) else pc.or_kleene
    left = _truth(node.this, columns)
    try:
        return operator(left, _truth(node.expression, columns))
    except pa.ArrowInvalid:  # Spark does not look at the right side where the left one decides
        if isinstance(left, pa.Scalar):
            raise
        undecided = pc.fill_null(left if isinstance(node, exp.And) else pc.invert(left), True)
        return operator(left, _some(node.expression, columns, np.asarray(undecided)))


def _truth(node: exp.Expression, columns: Columns) -> Value:
    value = _value(node, columns)
    if not pa.types.is_boolean(value.type):
        raise NotExact(node.sql("spark"))
    return value


def _is(node: exp.Expression, columns: Columns) -> Value:
    if not isinstance(node.expression, exp.Null):
        raise NotExact(node.sql("spark"))
    value = _value(node.this, columns)
    if isinstance(value, Decimal):
        raise NotExact(node.sql("spark"))
    return pc.is_null(value)


def _between(node: exp.Expression, columns: Columns) -> Value:
    value = _value(node.this, columns)
    low = _compare(exp.GTE, value, _value(node.args["low"], columns))
    return pc.and_kleene(low, _compare(exp.LTE, value, _value(node.args["high"], columns)))


def _in(node: exp.Expression, columns: Columns) -> Value:
    value = _value(node.this, columns)
    options = [_value(option, columns) for option in node.expressions]
    if value.type in WIDTHS and any(option.type not in WIDTHS for option in options):
        raise NotExact(node.sql("spark"))  # Spark compares all of them as doubles
    tests = [_compare(exp.EQ, value, option) for option in options]
    answer = tests[0]
    for test in tests[1:]:
        answer = pc.or_kleene(answer, test)
    return answer


def _negative(node: exp.Expression, columns: Columns) -> Value:
    number = number_of(node)
    if number:
        return _number_literal(number)
    value = _value(node.this, columns)
    if isinstance(value, Decimal):
        return Decimal(-value.value)
    if not _number(value.type):
        raise NotExact(node.sql("spark"))
    return pc.negate_checked(value)


def _cast(node: exp.Expression, columns: Columns) -> Value:
    value = _value(node.this, columns)
    if node.args["to"].this.name != "DOUBLE" or isinstance(value, Decimal) or not _number(value.type):
        raise NotExact(node.sql("spark"))
    return value.cast(pa.float64(), safe=False)


def _function(node: exp.Expression, columns: Columns) -> Value:
    if node.name.lower() == "abs" and len(node.expressions) == 1:
        value = _value(node.expressions[0], columns)
        if not isinstance(value, Decimal) and _number(value.type):
            return pc.abs_checked(value)
    raise NotExact(node.sql("spark"))


def _number(kind: pa.DataType) -> bool:
    return kind in WIDTHS or kind in (pa.float32(), pa.float64())


def _plain(kind: pa.DataType) -> bool:
    return kind in (pa.string(), pa.large_string(), pa.date32()) or pa.types.is_timestamp(kind)


NODES: dict[type, Callable[[exp.Expression, Columns], Value]] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: lambda node, columns: pa.scalar(bool(node.this)),
    exp.Paren: lambda node, columns: _value(node.this, columns),
    exp.And: _logic,
    exp.Or: _logic,
    exp.Not: lambda node, columns: pc.invert(_truth(node.this, columns)),
    exp.Is: _is,
    exp.Between: _between,
    exp.In: _in,
    exp.Neg: _negative,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Anonymous: _function,
}
