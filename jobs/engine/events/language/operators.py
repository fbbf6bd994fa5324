"""Operators: arithmetic and comparisons of two nodes, in the types that Spark's analysis gives both sides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from sqlglot import exp

from jobs.engine.events.language import arithmetic, comparisons
from jobs.engine.events.language.casts import cast, try_cast
from jobs.engine.events.language.nodes import (
    TIMES,
    Kernel,
    Node,
    apply,
    convert,
    literal_of,
    named_type,
    require,
    to_common,
    whole,
)
from jobs.engine.events.language.vectors import DATE, INSTANT, LONG, TRUTH, WIDTHS, Vector, constant
from jobs.engine.events.zones import is_utc, zone_of
from optimizer.catalog.spark_types import numbers
from optimizer.catalog.spark_types.parquet import spark_type

CLOSED = "a function whose last digit Spark leaves to Java, inside of more than a product"
ARITHMETIC: dict[type, Callable[..., Vector]] = {
    exp.Add: arithmetic.add,
    exp.Sub: arithmetic.subtract,
    exp.Mul: arithmetic.multiply,
    exp.Div: arithmetic.divide,
    exp.Mod: arithmetic.remainder,
}
SUMS, PRODUCTS = (arithmetic.add, arithmetic.subtract), (arithmetic.multiply,)
CHAINS: dict[type, tuple[Kernel, ...]] = {exp.Add: SUMS, exp.Sub: SUMS, exp.Mul: PRODUCTS}
REORDERED = "whole numbers that Spark adds or multiplies in another order, as there are several constants"
BITS: dict[type, Callable[..., Vector]] = {
    exp.BitwiseAnd: arithmetic.bit_and,
    exp.BitwiseOr: arithmetic.bit_or,
    exp.BitwiseXor: arithmetic.bit_xor,
}
COMPARISONS: dict[type, Callable[..., Vector]] = {
    exp.EQ: comparisons.equal,
    exp.NEQ: comparisons.not_equal,
    exp.GT: comparisons.greater,
    exp.GTE: comparisons.greater_equal,
    exp.LT: comparisons.less,
    exp.LTE: comparisons.less_equal,
    exp.NullSafeEQ: comparisons.equal_null_safe,
}


def combine(zone: str, kind: type, a: Node, b: Node, kernel: Callable[..., Vector] | None = None) -> Node:
    """Return an arithmetic operation in Spark's type of its result."""
    is_open = a.is_open or b.is_open
    require(not is_open or kind is exp.Mul or (kind is exp.Div and not b.is_open), CLOSED)
    a, b = fit_literal(a, b), fit_literal(b, a)
    result = named_type(numbers.arithmetic(kind.__name__, spark_type(a.type), spark_type(b.type)))
    if pa.types.is_decimal(result):
        a, b = (convert(side, as_decimal(side.type), zone) for side in (a, b))
    else:
        a, b = convert(a, result, zone), convert(b, result, zone)
    kernel = kernel or ARITHMETIC[kind]
    chain = CHAINS.get(kind)
    if chain and result in WIDTHS:
        require(sum(_constants(side, chain) for side in (a, b)) < 2 or (a.is_constant and b.is_constant), REORDERED)
    return apply(result, kernel, a, b, is_open=is_open)


def _constants(node: Node, chain: tuple[Kernel, ...]) -> int:
    """Return how many constants Spark finds in a chain of sums, or of products: it adds up several of them first."""
    if node.kernel not in chain:
        return int(node.is_constant)
    return sum(_constants(part, chain) for part in node.parts)


def fit_literal(node: Node, other: Node) -> Node:
    """Return a whole number written beside a decimal with just its own digits."""
    if not (node.is_constant and whole(node) and pa.types.is_decimal(other.type)):
        return node
    value = literal_of(node)
    kind = pa.decimal128(len(str(abs(value))), 0)
    return Node(kind, value=constant(kind, value))


def as_decimal(kind: pa.DataType) -> pa.DataType:
    """Return the decimal type that holds every number of a type of whole numbers; of a decimal, its own."""
    if pa.types.is_decimal(kind):
        return kind
    return pa.decimal128({8: 3, 16: 5, 32: 10, 64: 20}[kind.bit_width], 0)


def compare(zone: str, kind: type, a: Node, b: Node, text: Any = None) -> Node:
    """Return a comparison of both sides in the type they have in common."""
    require(not (a.is_open or b.is_open), CLOSED)
    if b.is_constant and whole(a) and pa.types.is_decimal(b.type) and kind in NEAREST and not a.is_constant:
        kind, b = _to_whole(kind, b)
    a, b = to_common(zone, fit_literal(a, b), fit_literal(b, a))
    require_kept_casts(zone, a, b)
    return apply(TRUTH, COMPARISONS[kind], a, b, text=text.sql("spark") if text is not None else "")


def require_kept_casts(zone: str, *sides: Node) -> None:
    """Leave comparisons of constants with casts of times to Spark where it compares what was cast, and clocks that
    skip or repeat hours would tell."""
    if is_utc(zone) or not any(side.is_constant for side in sides):
        return
    casts = [side for side in sides if side.kernel in (cast(zone), try_cast(zone)) and side.parts[0].type in TIMES]
    for node in casts:
        is_date = node.type == DATE and node.parts[0].type == INSTANT
        require(
            is_date and not zone_of(zone).repeats_dates, "a cast of times that Spark moves to the constant beside it"
        )


NEAREST: dict[type, tuple[type, bool]] = {  # how a whole number is compared instead, and whether with the next one up
    exp.GT: (exp.GT, False),
    exp.GTE: (exp.GT, False),
    exp.LT: (exp.LT, True),
    exp.LTE: (exp.LT, True),
}


def _to_whole(kind: type, literal: Node) -> tuple[type, Node]:
    """Return a comparison of whole numbers for one with a decimal that is none: n >= 1.5 is n > 1."""
    value = literal.value
    if value is None or value.valid is not None:
        return kind, literal
    units, rest = divmod(int(value.values[0]), 10**literal.type.scale)
    instead, above = NEAREST[kind]
    nearest = units + 1 if above else units
    if rest == 0 or not -(1 << 63) <= nearest < 1 << 63:
        return kind, literal
    number = constant(LONG, nearest)
    return instead, Node(LONG, value=number)
