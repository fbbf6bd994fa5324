"""Nodes: an expression with the type of every part, as Spark's analysis has it, ready to be evaluated on columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa

from jobs.engine.events.language.casts import cast, may_cast, try_cast
from jobs.engine.events.language.text_casts import read_time
from jobs.engine.events.language.times import find_instants
from jobs.engine.events.language.vectors import (
    DATE,
    DOUBLE,
    FLOAT,
    INSTANT,
    LOCAL,
    NULL,
    TEXT,
    WIDTHS,
    NotExact,
    Vector,
    constant,
    is_number,
)
from jobs.engine.events.zones import OPEN
from jobs.engine.program.spark_types import parse_type
from jobs.engine.sources.contract import ARROW
from optimizer.catalog.spark_types.numbers import wider
from optimizer.catalog.spark_types.parquet import spark_type

Kernel = Callable[..., Vector]  # of the result's type and the parts
TIMES = [DATE, LOCAL, INSTANT]  # each becomes any that follows


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
