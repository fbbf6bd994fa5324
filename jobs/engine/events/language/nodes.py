"""Nodes: an expression with the type of every part, as Spark's analysis has it, ready to be evaluated on columns.

An operator makes a node of two: arithmetic and comparisons, in the types that Spark's analysis gives both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa
from sqlglot import exp

from jobs.engine.events.language import arithmetic, comparisons
from jobs.engine.events.language.casts import cast, may_cast, read_time, try_cast
from jobs.engine.events.language.times import OPEN, find_instants, is_utc, zone_of
from jobs.engine.events.language.vectors import (
    DATE,
    DOUBLE,
    FLOAT,
    INSTANT,
    LOCAL,
    LONG,
    NULL,
    TEXT,
    TRUTH,
    WIDTHS,
    NotExact,
    Vector,
    constant,
    is_number,
)
from jobs.engine.program.spark_types import parse_type
from jobs.engine.sources.contract import ARROW
from optimizer.catalog.spark_types import numbers
from optimizer.catalog.spark_types.numbers import wider
from optimizer.catalog.spark_types.parquet import spark_type

Kernel = Callable[..., Vector]  # of the result's type and the parts
TIMES = [DATE, LOCAL, INSTANT]  # each becomes any that follows
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


@dataclass(frozen=True)
class Node:
    """A column by its name, a constant, or a kernel over parts."""

    type: pa.DataType
    parts: tuple[Node, ...] = ()
    kernel: Kernel | None = None
    column: str = ""
    value: Vector | None = None
    text: str = ""  # of comparisons, which many predicates have in common
    is_open: bool = False  # whether Spark leaves the last digit to Java's Math
    is_written: bool = False  # a number as it stands in the text, not computed of such

    @property
    def is_constant(self) -> bool:
        """Whether the node has the same value in every row."""
        return self.value is not None


def apply(kind: pa.DataType, kernel: Kernel, *parts: Node, is_open: bool = False, text: str = "") -> Node:
    """Return a kernel over parts; evaluated at once where all of them are constants.

    What fails for constants is left to Spark, which may fail before it reads a row, or not at all."""
    if not all(part.is_constant for part in parts):
        return Node(kind, parts, kernel, text=text, is_open=is_open)
    value = kernel(kind, *(part.value for part in parts))
    if value.errors is not None and value.errors.any():
        raise NotExact(f"a constant that has no value: {value.reason}")
    return Node(kind, value=value, is_open=is_open)


def evaluate_node(node: Node, columns: Mapping[str, Vector], compared: dict[str, Vector] | None = None) -> Vector:
    """Return the vector of a node; `compared` remembers comparisons by their text."""
    if node.value is not None:
        return node.value
    if node.kernel is None:
        return columns[node.column]
    if node.text and compared is not None:
        if node.text not in compared:
            compared[node.text] = _run(node, columns, compared)
        return compared[node.text]
    return _run(node, columns, compared)


def _run(node: Node, columns: Mapping[str, Vector], compared: dict[str, Vector] | None) -> Vector:
    assert node.kernel is not None
    return node.kernel(node.type, *(evaluate_node(part, columns, compared) for part in node.parts))


def convert(node: Node, kind: pa.DataType, zone: str) -> Node:
    """Return a node in another type, as Spark converts it without being asked."""
    if node.type == kind:
        return node
    if node.is_open and kind != DOUBLE:
        raise NotExact("a conversion of digits that Spark leaves to Java")
    if node.type == TEXT and kind in (LOCAL, INSTANT):
        return read_time_literal(node, kind, zone)
    require(may_cast(node.type, kind), f"a {node.type} as a {kind}")
    require_clock(node.type, kind, zone)
    return apply(kind, cast(zone), before_float(node, kind, zone), is_open=node.is_open)


def before_float(node: Node, kind: pa.DataType, zone: str) -> Node:
    """Return what was cast to float, where that is cast to double: Spark leaves out the step between."""
    is_cast = node.kernel in (cast(zone), try_cast(zone)) and node.type == FLOAT and kind == DOUBLE
    return node.parts[0] if is_cast and whole(node.parts[0]) else node


def require_clock(kind: pa.DataType, to: pa.DataType, zone: str) -> None:
    """Leave conversions to Spark that read a clock of which Java knows other changes."""
    if INSTANT in (kind, to) and {kind, to} & {DATE, LOCAL, TEXT}:
        require(zone != OPEN, "clocks of a zone whose changes Java knows differently")


def read_time_literal(node: Node, kind: pa.DataType, zone: str) -> Node:
    """Return a text that is written as a time, in full, as that time."""
    require_clock(TEXT, kind, zone)
    micros = read_time(literal_of(node))
    if micros is None:
        raise NotExact(f"a text of another form as a {kind}")
    clock = constant(LOCAL, micros)
    return Node(kind, value=clock if kind == LOCAL else find_instants(clock, zone))


def common_type(*nodes: Node) -> pa.DataType:
    """Return the type that Spark gives to values that must be of one."""
    return reduce(_wider, [node.type for node in nodes])


def _wider(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    if left == right or right == NULL:
        return left
    if left == NULL:
        return right
    if is_number(left) and is_number(right):
        return named_type(wider(spark_type(left), spark_type(right)))
    if left in TIMES and right in TIMES:
        return max(left, right, key=TIMES.index)
    raise NotExact(f"{left} beside {right}")


def named_type(name: str) -> pa.DataType:
    """Return the type of Spark's name."""
    if name.startswith("decimal"):
        return parse_type(name.replace("decimal(", "decimal128(").replace(",", ", "))
    if name not in ARROW:
        raise NotExact(f"a {name}")
    return ARROW[name]


def to_common(zone: str, *nodes: Node) -> list[Node]:
    """Return nodes in the type they have in common; a text beside a time is read as one, if it is a constant."""
    times = [node.type for node in nodes if node.type in TIMES]
    if times and any(node.type == TEXT and node.is_constant for node in nodes):
        kind = max(times, key=TIMES.index)
        nodes = tuple(convert(node, kind, zone) if node.type == TEXT else node for node in nodes)
    kind = common_type(*nodes)
    return [convert(node, kind, zone) for node in nodes]


def require(condition: bool, reason: str) -> None:
    """Leave an expression to Spark unless a condition holds."""
    if not condition:
        raise NotExact(reason)


def whole(node: Node) -> bool:
    """Whether a node's values are whole numbers."""
    return node.type in WIDTHS


def literal_of(node: Node) -> Any:
    """Return the value of a constant; NotExact where a node is none, or null."""
    if node.value is None or node.value.valid is not None:
        raise NotExact("an argument that must be written as a literal")
    value = node.value.values[0]
    return value.as_py() if isinstance(value, pa.Scalar) else value.item()


def combine(zone: str, kind: type, a: Node, b: Node, kernel: Callable[..., Vector] | None = None) -> Node:
    """Return an arithmetic operation in Spark's type of its result."""
    require_evaluated(a, b)
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
    """Return a whole number written beside a decimal with just its own digits; one that is computed keeps its type."""
    if not (node.is_written and whole(node) and pa.types.is_decimal(other.type)):
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
    if kind is not exp.NullSafeEQ:
        require_evaluated(a, b)
    if b.is_constant and whole(a) and pa.types.is_decimal(b.type) and kind in NEAREST and not a.is_constant:
        kind, b = _to_whole(kind, b)
    if kind is exp.NullSafeEQ and (_never_equal(a, b) or _never_equal(b, a)):
        return Node(TRUTH, value=constant(TRUTH, False))
    a, b = to_common(zone, fit_literal(a, b), fit_literal(b, a))
    require_kept_casts(zone, a, b)
    return apply(TRUTH, COMPARISONS[kind], a, b, text=text.sql("spark") if text is not None else "")


def require_evaluated(a: Node, b: Node) -> None:
    """Leave operations on a constant null to Spark, which does not compute the other side then, even where it fails."""
    for side, other in ((a, b), (b, a)):
        require(not (is_null(side) and other.kernel), "an operation on null, whose other side Spark does not compute")


def is_null(node: Node) -> bool:
    """Whether a node is a constant that is null."""
    return node.value is not None and node.value.valid is not None and not node.value.valid.any()


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


def _never_equal(node: Node, other: Node) -> bool:
    """Whether a whole number meets a constant that is none, or out of its range: Spark then does not look at it."""
    value = other.value
    if value is None or value.valid is not None or node.is_constant or not whole(node):
        return False
    if whole(other):
        limit = 1 << (node.type.bit_width - 1)
        return not -limit <= int(value.values[0]) < limit
    return bool(pa.types.is_decimal(other.type)) and int(value.values[0]) % 10**other.type.scale != 0


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


def choose(zone: str, conditions: Sequence[Node], values: Sequence[Node]) -> Node:
    """Return CASE: the value whose condition is the first that holds, or the last value."""
    values = to_common(zone, *values)
    require(not _is_same(*values[-2:]), "a condition that decides nothing, which Spark does not compute")
    parts = [part for pair in zip(conditions, values, strict=False) for part in pair]
    is_open = any(value.is_open for value in values)
    return apply(values[-1].type, comparisons.choose, *parts, values[-1], is_open=is_open)


def _is_same(a: Node, b: Node) -> bool:
    """Whether two nodes of a type are the same computation."""
    if a.is_constant or b.is_constant:
        if is_null(a) or is_null(b):
            return is_null(a) and is_null(b)
        return a.is_constant and b.is_constant and bool(literal_of(a) == literal_of(b))
    alike = (a.type, a.kernel, a.column, len(a.parts)) == (b.type, b.kernel, b.column, len(b.parts))
    return alike and all(map(_is_same, a.parts, b.parts))
