"""Evaluates an expression on Arrow columns where that gives exactly what Spark gives; otherwise says so.

The file lane uses it. The room `language` has the operators and functions; what it leaves to Spark goes by the frame
lane: `NotExact` says so before any event is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from jobs.engine.events.language.arithmetic import BY_ZERO, OVERFLOW
from jobs.engine.events.language.build import Builder
from jobs.engine.events.language.casts import MALFORMED
from jobs.engine.events.language.nodes import Node, evaluate_node
from jobs.engine.events.language.vectors import NULL, NotExact, RefusedRow, Vector, from_arrow, to_arrow
from jobs.engine.program.spark_types import plain_type
from optimizer.catalog.model.query import UTC
from optimizer.catalog.sql.expressions import parse

__all__ = ["CachedColumns", "Columns", "NotExact", "RefusedRow", "advise", "compile_expression", "evaluate"]
__all__ += ["evaluate_some", "parse_cached"]
Value = Any  # pa.Array, pa.ChunkedArray or pa.Scalar
Columns = Mapping[str, Value]
ADVICE = {
    OVERFLOW: "cast to double first",
    BY_ZERO: "divide by nullif(divisor, 0), which gives null",
    MALFORMED: "use try_cast, which gives null",
}


class CachedColumns(dict[str, Value]):
    """Columns that remember their vectors and the comparisons made on them, which many predicates have in common.

    Clocks show the time of a zone."""

    def __init__(self, columns: Columns, zone: str = UTC) -> None:
        super().__init__(columns)
        self.zone = zone
        self.vectors: dict[str, Vector] = {}
        self.compared: dict[str, Vector] = {}


@lru_cache(maxsize=8_192)
def parse_cached(sql: str) -> exp.Expr:
    """Return the tree of an expression, parsed once; nobody may change it."""
    return parse(sql)


@lru_cache(maxsize=8_192)
def _names(sql: str) -> tuple[str, ...]:
    return tuple(sorted({column.parts[-1].name for column in parse_cached(sql).find_all(exp.Column)}))


@lru_cache(maxsize=8_192)
def _compile(sql: str, types: tuple[tuple[str, pa.DataType], ...], zone: str) -> Node:
    tree, kinds = parse_cached(sql), dict(types)
    if isinstance(tree, exp.Column) and not tree.args.get("table") and is_bytes(kinds.get(tree.name)):
        return Node(pa.binary(), column=str(tree.name))  # bytes are compared and carried, and nothing else
    node = Builder(kinds, zone).build(tree)
    if node.type == NULL:  # no kernel folds them
        raise NotExact(sql)
    return node


def compile_expression(sql: str, columns: Columns, zone: str = UTC) -> Node:
    """Return the typed node of an expression; NotExact where only Spark evaluates it as Spark does."""
    return _compile(sql, tuple((name, columns[name].type) for name in _names(sql) if name in columns), zone)


def evaluate(sql: str, columns: Columns, rows: npt.NDArray[np.bool_] | None = None) -> Value:
    """Return the value of an expression for every row; RefusedRow where Spark's ANSI mode refuses one of `rows` (all
    when left out), and null in other rows that it would refuse.

    >>> evaluate("n + 1", {"n": pa.array([1, None])}).to_pylist()
    [2, None]
    """
    cached = columns if isinstance(columns, CachedColumns) else CachedColumns(columns)
    node = compile_expression(sql, columns, cached.zone)
    if node.column:
        return _decode(columns[node.column])
    count = max((len(columns[name]) for name in _names(sql)), default=1)
    if not count:
        return pa.array([], node.type)
    for name in _names(sql):
        if name not in cached.vectors:
            cached.vectors[name] = from_arrow(columns[name])
    value = evaluate_node(node, cached.vectors, cached.compared)
    if value.errors is not None and np.any(value.errors if rows is None else value.errors & rows):
        raise RefusedRow(value.reason)
    return to_arrow(value, 1)[0] if node.is_constant else to_arrow(value, count)


def evaluate_some(sql: str, columns: Columns, rows: npt.NDArray[np.bool_]) -> Value:
    """Return the value of an expression where `rows` is true; elsewhere it may be null, whatever it would be there."""
    return evaluate(sql, columns, rows)


def is_bytes(kind: pa.DataType | None) -> bool:
    """Return whether values of a type are bytes, of any or of a fixed length, to Spark."""
    return kind is not None and plain_type(kind) == pa.binary()


def _decode(column: Value) -> Value:
    if is_bytes(column.type):
        return column.cast(pa.binary())
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def advise(refusal: Exception) -> str:
    """Return what would be right instead of what was refused."""
    return ADVICE.get(str(refusal), "leave such rows out by a predicate")
