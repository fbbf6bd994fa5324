"""The columns of any stream and their Spark types, those of streams by SQL derived from what they read."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Stream
from optimizer.catalog.read.streams import sources_of
from optimizer.catalog.spark_types.numbers import UNKNOWN
from optimizer.catalog.spark_types.parquet import Schema, read_schema
from optimizer.catalog.spark_types.results import expression_type
from optimizer.catalog.sql.expressions import parse, print_tree
from optimizer.errors import Mistake


def columns_of(catalog: Catalog, name: str) -> Schema:
    """A stream's or table's columns; raises Unread where they cannot be read here and now."""
    if name in catalog.tables:
        table = catalog.tables[name]
        return read_schema(Stream(name, "", 0, table.format, table.path, written=table.written))
    stream = catalog.streams[name]
    if not stream.sql:
        return read_schema(stream)
    read = _together([columns_of(catalog, source) for source in sources_of(stream.sql)])
    found: Schema = {}
    for item in parse(stream.sql).expressions:
        if item.find(exp.Star):
            found |= read
        else:
            found[item.alias_or_name] = _type(item.unalias(), read)
    return found


def _together(schemas: list[Schema]) -> Schema:
    """All columns; one that two sources have with different types is unknown."""
    found: Schema = {}
    for schema in schemas:
        found |= {name: kind if found.get(name, kind) == kind else UNKNOWN for name, kind in schema.items()}
    return found


def _type(tree: Any, read: Schema) -> str:
    for column in tree.find_all(exp.Column):
        column.set("table", None)
    try:
        return expression_type(print_tree(tree), read)
    except Mistake:  # a column that Spark finds in another way, or not at all
        return UNKNOWN
