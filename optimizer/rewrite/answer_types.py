"""The types of a stream's columns and answers, as far as they are known without Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Query, Stream
from optimizer.catalog.read.streams import sources_of
from optimizer.catalog.spark_types.numbers import UNKNOWN
from optimizer.catalog.spark_types.parquet import Schema, Unread, read_schema
from optimizer.catalog.spark_types.results import expression_type, result_type
from optimizer.catalog.sql.expressions import parse, print_tree
from optimizer.errors import Mistake

ADDING = ("sum", "sum_squares", "avg", "try_sum", "try_avg", "regr_avgx", "regr_avgy")


def answer_types(catalog: Catalog, stream: str) -> dict[str, str]:
    """Return Spark's type of every query's answers, or nothing where the events cannot be read."""
    try:
        schema = columns_of(catalog, stream)
    except Unread:
        return {}
    return {query.id: _answer_type(query, schema) for query in catalog.of_stream(stream)}


def _answer_type(query: Query, schema: Schema) -> str:
    try:
        return result_type(query, schema)
    except Mistake:  # Spark refuses the query, and says why better than a script that differs from it
        return UNKNOWN


def may_widen(query: Query, types: Mapping[str, str]) -> bool:
    """Say whether a sum of sums may differ from the sum: decimals grow with every sum, and where a sum of whole numbers
    may be too large, so may be that of a slice, but try_sum wants it to be null in the end only."""
    answer_type = types.get(query.id, UNKNOWN)
    if AGGREGATES[query.aggregate].kind == "holistic":
        return True  # its partials have no SQL
    if query.aggregate == "try_sum" and answer_type != "double":
        return True
    return query.aggregate in ADDING and (answer_type == UNKNOWN or answer_type.startswith("decimal"))


def columns_of(catalog: Catalog, name: str) -> Schema:
    """Return the columns of a stream or table; of a stream by SQL they are derived from what it reads.

    Raises Unread where the files cannot be read here and now.
    """
    if name in catalog.tables:
        table = catalog.tables[name]
        return read_schema(Stream(name, "", 0, table.format, table.path, "", table.options, table.written))
    stream = catalog.streams[name]
    if not stream.sql:
        return read_schema(stream)
    inputs = _join_schemas([columns_of(catalog, source) for source in sources_of(stream.sql)])
    columns: Schema = {}
    for item in parse(stream.sql).expressions:
        if item.find(exp.Star):
            columns |= inputs
        else:
            columns[item.alias_or_name] = _item_type(item.unalias(), inputs)
    return columns


def _join_schemas(schemas: list[Schema]) -> Schema:
    """Return all columns; one that two sources have with different types is unknown."""
    columns: Schema = {}
    for schema in schemas:
        columns |= {name: kind if columns.get(name, kind) == kind else UNKNOWN for name, kind in schema.items()}
    return columns


def _item_type(tree: Any, inputs: Schema) -> str:
    for column in tree.find_all(exp.Column):
        column.set("table", None)
    try:
        return expression_type(print_tree(tree), inputs)
    except Mistake:  # a column that Spark resolves in another way, or not at all
        return UNKNOWN
