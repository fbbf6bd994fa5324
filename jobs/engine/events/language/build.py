"""Builds the node of an expression, operator by operator, with the conversions that Spark's analysis inserts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
from sqlglot import exp

from jobs.engine.events.language import arithmetic, comparisons, texts
from jobs.engine.events.language.casts import cast, may_cast, try_cast
from jobs.engine.events.language.functions import FUNCTIONS, Call, without_case
from jobs.engine.events.language.nodes import (
    ARITHMETIC,
    BITS,
    CLOSED,
    COMPARISONS,
    TIMES,
    Node,
    apply,
    as_decimal,
    before_float,
    choose,
    combine,
    common_type,
    compare,
    convert,
    fit_literal,
    literal_of,
    named_type,
    read_time_literal,
    require,
    require_clock,
    require_kept_casts,
    to_common,
    whole,
)
from jobs.engine.events.language.vectors import (
    DOUBLE,
    LONG,
    NULL,
    TEXT,
    TRUTH,
    NotExact,
    constant,
    is_number,
)
from optimizer.catalog.spark_types import numbers
from optimizer.catalog.spark_types.parquet import spark_type
from optimizer.catalog.spark_types.results import CASTS
from optimizer.catalog.sql.grammar import Number, number_of


class Builder:
    """Builds nodes over columns of given types, with clocks in a time zone."""

    def __init__(self, types: Mapping[str, pa.DataType], zone: str) -> None:
        self.types, self.zone = types, zone

    def build(self, tree: Any) -> Node:
        """Return the node of a tree; NotExact where the file lane does not evaluate it as Spark does."""
        kind = type(tree)
        if kind not in NODES:
            raise NotExact(tree.sql("spark"))
        return NODES[kind](self, tree)

    def pair(self, tree: Any) -> tuple[Node, Node]:
        """Return both operands."""
        return self.build(tree.this), self.build(tree.expression)

    def truth(self, tree: Any) -> Node:
        """Return a condition."""
        node = self.convert_null(self.build(tree), TRUTH)
        require(node.type == TRUTH, tree.sql("spark"))
        return node

    def convert_null(self, node: Node, kind: pa.DataType) -> Node:
        """Return NULL in a type; any other node as it is."""
        return convert(node, kind, self.zone) if node.type == NULL else node


def _column(builder: Builder, tree: Any) -> Node:
    if tree.args.get("table"):
        raise NotExact(f"a field of {tree.parts[0].name}")
    kind = builder.types.get(tree.name)
    if kind is None:
        raise NotExact(f"the first file has no column {tree.name}")
    return Node(column_type(tree.name, kind), column=str(tree.name))


def column_type(name: str, kind: pa.DataType) -> pa.DataType:
    """Return the type in which a column is evaluated; NotExact of one that has none here."""
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    spark = spark_type(plain)
    if spark == "unknown" or spark == "binary" or pa.types.is_unsigned_integer(plain):
        raise NotExact(f"{name} is a {kind}")
    return named_type(spark)


def _literal(builder: Builder, tree: Any) -> Node:
    return _text(tree.name) if tree.is_string else _number(Number(tree.name))


def _text(text: str) -> Node:
    return Node(TEXT, value=constant(TEXT, text))


def _number(number: Number) -> Node:
    kind = named_type(number.kind)
    if pa.types.is_decimal(kind):
        return Node(kind, value=constant(kind, int(number.text.replace(".", ""))))
    value = float(number.text) if kind == DOUBLE else int(number.text)
    return Node(kind, value=constant(kind, value), is_written=True)


def _negative(builder: Builder, tree: Any) -> Node:
    number = number_of(tree)
    if number:
        return _number(number)
    part = builder.build(tree.this)
    require(is_number(part.type), tree.sql("spark"))
    return apply(part.type, arithmetic.negate, part, is_open=part.is_open)


def _arithmetic(builder: Builder, tree: Any) -> Node:
    a, b = builder.pair(tree)
    require(is_number(a.type) and is_number(b.type), tree.sql("spark"))
    return combine(builder.zone, type(tree), a, b)


def _divide_whole(builder: Builder, tree: Any) -> Node:
    a, b = (fit_literal(x, y) for x, y in (builder.pair(tree), builder.pair(tree)[::-1]))
    for side in (a, b):
        require(whole(side) or pa.types.is_decimal(side.type), tree.sql("spark"))
    if whole(a) and whole(b):
        kind = LONG
        return apply(LONG, arithmetic.divide_whole, *(convert(side, kind, builder.zone) for side in (a, b)))
    sides = (convert(side, as_decimal(side.type), builder.zone) for side in (a, b))
    return apply(LONG, arithmetic.divide_whole, *sides)


def _bits(builder: Builder, tree: Any) -> Node:
    a, b = builder.pair(tree)
    require(whole(a) and whole(b), tree.sql("spark"))
    kind = common_type(a, b)
    return apply(kind, BITS[type(tree)], convert(a, kind, builder.zone), convert(b, kind, builder.zone))


def _bit_not(builder: Builder, tree: Any) -> Node:
    part = builder.build(tree.this)
    require(whole(part), tree.sql("spark"))
    return apply(part.type, arithmetic.bit_not, part)


def _comparison(builder: Builder, tree: Any) -> Node:
    return compare(builder.zone, type(tree), *builder.pair(tree), text=tree)


def _differs(builder: Builder, tree: Any) -> Node:
    return apply(TRUTH, comparisons.invert, compare(builder.zone, exp.NullSafeEQ, *builder.pair(tree)))


def _between(builder: Builder, tree: Any) -> Node:
    value = builder.build(tree.this)
    low = compare(builder.zone, exp.GTE, value, builder.build(tree.args["low"]))
    return apply(TRUTH, comparisons.both, low, compare(builder.zone, exp.LTE, value, builder.build(tree.args["high"])))


def _in(builder: Builder, tree: Any) -> Node:
    parts = [builder.build(tree.this), *map(builder.build, tree.expressions)]
    require(not any(part.is_open for part in parts), CLOSED)
    parts = to_common(builder.zone, *parts)
    require_kept_casts(builder.zone, *parts)
    return apply(TRUTH, comparisons.is_in, *parts)


def _is(builder: Builder, tree: Any) -> Node:
    if isinstance(tree.expression, exp.Null):
        part = builder.build(tree.this)
        return apply(TRUTH, comparisons.is_null, part)
    truth = Node(TRUTH, value=constant(TRUTH, bool(tree.expression.this)))
    return apply(TRUTH, comparisons.equal_null_safe, builder.truth(tree.this), truth)


def _like(builder: Builder, tree: Any) -> Node:
    value, pattern = builder.pair(tree)
    require(value.type == TEXT and pattern.type == TEXT, tree.sql("spark"))
    ignores_case = isinstance(tree, exp.ILike)
    kernel = texts.like(literal_of(pattern), ignores_case)
    like = apply(TRUTH, kernel, without_case(value) if ignores_case else value)
    return apply(TRUTH, comparisons.invert, like) if tree.args.get("negate") else like


def _concat(builder: Builder, tree: Any) -> Node:
    return call(builder, "concat", list(builder.pair(tree)))


def _case(builder: Builder, tree: Any) -> Node:
    subject = builder.build(tree.this) if tree.this else None
    conditions = [
        builder.truth(arm.this) if subject is None else compare(builder.zone, exp.EQ, subject, builder.build(arm.this))
        for arm in tree.args["ifs"]
    ]
    default = tree.args.get("default")
    values = [builder.build(arm.args["true"]) for arm in tree.args["ifs"]]
    values.append(builder.build(default) if default else Node(NULL, value=constant(NULL, None)))
    return choose(builder.zone, conditions, values)


def _cast(builder: Builder, tree: Any) -> Node:
    part, to = builder.build(tree.this), tree.args["to"]
    if to.this.name == "DECIMAL":
        precision, scale = (*(int(param.this.name) for param in to.expressions), 10, 0)[:2]
        kind = named_type(numbers.decimal(precision, scale if len(to.expressions) > 1 else 0))
    else:
        kind = named_type(CASTS.get(to.this.name, to.this.name.lower()))
    require(not part.is_open or kind in (part.type, DOUBLE), CLOSED)
    if part.type == kind:
        return part
    if part.type == TEXT and kind in TIMES[1:]:
        return read_time_literal(part, kind, builder.zone)
    require(may_cast(part.type, kind), tree.sql("spark"))
    require_clock(part.type, kind, builder.zone)
    kernel = try_cast(builder.zone) if tree.args.get("safe") else cast(builder.zone)
    return apply(kind, kernel, before_float(part, kind, builder.zone), is_open=part.is_open)


def _function(builder: Builder, tree: Any) -> Node:
    return call(builder, tree.name.lower(), [builder.build(part) for part in tree.expressions])


def call(builder: Builder, name: str, parts: list[Node]) -> Node:
    """Return a call of a function of the table."""
    function = FUNCTIONS.get(name)
    if function is None:
        raise NotExact(f"{name}()")
    require(function.keeps_open or not any(part.is_open for part in parts), CLOSED)
    return function.build(Call(name, parts, builder.zone))


def _logic(builder: Builder, tree: Any) -> Node:
    left, right = builder.truth(tree.this), builder.truth(tree.expression)
    decisive = not isinstance(tree, exp.And)
    if right.value is not None and right.value.valid is None and bool(right.value.values[0]) == decisive:
        return right  # Spark does not look at the left side then
    return apply(TRUTH, comparisons.either if decisive else comparisons.both, left, right)


NODES: dict[type, Callable[[Builder, Any], Node]] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: lambda builder, tree: Node(TRUTH, value=constant(TRUTH, bool(tree.this))),
    exp.Null: lambda builder, tree: Node(NULL, value=constant(NULL, None)),
    exp.Paren: lambda builder, tree: builder.build(tree.this),
    exp.And: _logic,
    exp.Or: _logic,
    exp.Not: lambda builder, tree: apply(TRUTH, comparisons.invert, builder.truth(tree.this)),
    exp.Is: _is,
    exp.Between: _between,
    exp.In: _in,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Neg: _negative,
    exp.BitwiseNot: _bit_not,
    exp.IntDiv: _divide_whole,
    exp.DPipe: _concat,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Anonymous: _function,
    exp.NullSafeNEQ: _differs,
    **dict.fromkeys(ARITHMETIC, _arithmetic),
    **dict.fromkeys(BITS, _bits),
    **dict.fromkeys(COMPARISONS, _comparison),
}
