"""Streams and tables as temporary views, each after what it reads from."""

from __future__ import annotations

from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Stream, Table
from optimizer.catalog.read.streams import sources_of
from optimizer.catalog.sql.expressions import quote

SCHEMA = "schema"  # the one option that a view takes as its columns


def source_views(catalog: Catalog, stream: str) -> list[str]:
    """A statement for the stream, after those for the streams and tables that its SQL reads from."""
    statements: dict[str, str] = {}
    _collect(catalog, stream, statements)
    return list(statements.values())


def _collect(catalog: Catalog, name: str, statements: dict[str, str]) -> None:
    source: Stream | Table = catalog.streams[name] if name in catalog.streams else catalog.tables[name]
    if name in statements:
        return
    if isinstance(source, Stream) and source.sql:
        for read in sources_of(source.sql):
            _collect(catalog, read, statements)
        statements[name] = f"CREATE OR REPLACE TEMPORARY VIEW {quote(name)} AS\n{source.sql}"
    else:
        statements[name] = _reader(source)


def _reader(source: Stream | Table) -> str:
    columns = f" ({source.options[SCHEMA]})" if SCHEMA in source.options else ""
    options = {"path": source.path} | {key: text for key, text in source.options.items() if key != SCHEMA}
    listed = ", ".join(f"{quote(key)} {literal(text)}" for key, text in options.items())
    return f"CREATE OR REPLACE TEMPORARY VIEW {quote(source.name)}{columns} USING {source.format} OPTIONS ({listed})"


def literal(text: str) -> str:
    """A text as Spark SQL writes it."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
