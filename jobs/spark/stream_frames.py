"""A stream's events as a DataFrame: files by Spark's own reader, and what the SQL of a stream makes of them.

Files of Delta and Iceberg tables are read by Spark's own Parquet reader, without a connector; a table of the
session's catalog by the table itself.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Sequence
from contextlib import suppress
from functools import reduce
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from sqlglot import exp

from jobs.engine.events.parquet_file import open_parquet
from jobs.engine.sources import list_input_files, table_columns
from jobs.engine.sources.contract import File, TableColumns, current_files, name_absent, read_values
from jobs.engine.warehouse.consumed_files import plain_path
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Stream, Table
from optimizer.catalog.model.source_files import LISTING_OPTIONS, reads_below
from optimizer.catalog.sql.expressions import in_backquotes, parse, print_tree
from optimizer.errors import HeddleError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType


SCHEMA = "schema"
NOT_FOR_READER = LISTING_OPTIONS | {"maxFilesPerTrigger"}
Names = tuple[tuple[str, str], ...]  # what files call columns, where it is another name
Made = tuple[tuple[str, pa.DataType], ...]  # columns that are made of others, with the names that files have
FileLayout = tuple[str, Names, Made]  # what tells files apart that are read in turn, first the values beside them


def driver_of(catalog: Catalog, stream: str) -> Stream:
    """Return the stream whose files bring the events: itself, or the one that its SQL reads, directly or not."""
    source = catalog.streams[stream]
    if not source.sql:
        return source
    tree = parse(source.sql)
    names = [str(table.name) for table in tree.find_all(exp.Table) if table.name in catalog.streams]
    if len(names) != 1:
        read = f"reads {' and '.join(names)}" if names else "reads no stream"
        raise HeddleError(
            f"stream {stream}: its SQL {read}; exactly one stream brings events, once: declare others under tables:"
        )
    _check_joins(stream, tree, names[0])
    return driver_of(catalog, names[0])


def _check_joins(stream: str, tree: exp.Expr, driver: str) -> None:
    """Refuse joins by which the rows of an event would depend on events that are still to come."""
    has_driver = tree.args["from_"].this.name == driver
    for join in tree.args.get("joins") or ():
        side, kind = join.side.upper(), join.kind.upper()
        here = join.this.name == driver
        if (has_driver and side in ("RIGHT", "FULL")) or (
            here and (side in ("LEFT", "FULL") or kind in ("SEMI", "ANTI"))
        ):
            raise HeddleError(
                f"stream {stream}: its SQL keeps rows of {join.this.name if has_driver else 'a table'} that no event "
                f"of {driver} matches, which no event can tell; start FROM {driver}, with JOIN or LEFT JOIN"
            )
        has_driver |= here


def file_frame(
    spark: SparkSession, source: Stream | Table, files: Sequence[File], schema: StructType | None = None
) -> DataFrame:
    """Return the rows of some files; a later batch is read in the types that the first one had.

    Which files a stream has is decided before: Spark is handed each of them, and no pattern."""
    if isinstance(source, Stream) and source.has_log:
        return table_frame(spark, source, files)
    if isinstance(source, Stream) and source.in_spark:
        return catalog_frame(spark, source, files)
    options = {name: value for name, value in source.options.items() if name != SCHEMA}
    if isinstance(source, Stream):
        options = {name: value for name, value in options.items() if name not in NOT_FOR_READER}
        if not reads_below(source):
            options["basePath"] = source.path  # the folders from there on name columns
    reader = spark.read.format(source.format).options(**options)
    columns: StructType | str | None = schema or source.options.get(SCHEMA)
    return (reader.schema(columns) if columns else reader).load([literal_path(file.path) for file in files])


def stream_frame(
    spark: SparkSession, catalog: Catalog, stream: str, files: Sequence[File], schema: StructType | None = None
) -> DataFrame:
    """Return the events that some files of a stream's driver bring."""
    return events_of(spark, catalog, stream, file_frame(spark, driver_of(catalog, stream), files, schema))


def events_of(spark: SparkSession, catalog: Catalog, stream: str, arrived: DataFrame) -> DataFrame:
    """Return a stream's events, by its SQL from those of the stream that brings the files."""
    sql = catalog.streams[stream].sql
    if not sql:
        return arrived
    tree = parse(sql)
    views = []
    for table in list(tree.find_all(exp.Table)):
        name = str(table.name)
        views.append(f"heddle_{uuid.uuid4().hex}")
        frame = (
            file_frame(spark, catalog.tables[name], [File(catalog.tables[name].path, 0)])
            if name in catalog.tables and name not in catalog.streams
            else events_of(spark, catalog, name, arrived)
        )
        frame.createOrReplaceTempView(views[-1])
        table.set("alias", exp.TableAlias(this=exp.to_identifier(table.alias or name)))
        table.set("this", exp.to_identifier(views[-1]))
    try:
        return spark.sql(print_tree(tree))  # the views are resolved here, for good
    finally:
        for view in views:
            spark.catalog.dropTempView(view)


def literal_path(path: str) -> str:
    r"""Return a path for Spark, which would take some characters for a pattern.

    >>> print(literal_path("data/p*[1].parquet"))
    data/p\*\[1\].parquet
    """
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", path)


def table_frame(spark: SparkSession, source: Stream, files: Sequence[File]) -> DataFrame:
    """Return the rows of some files of a table, in the columns and types that the table has now."""
    columns = table_columns(source) or TableColumns({})
    groups: dict[FileLayout, list[str]] = {}
    for file in files:
        groups.setdefault((file.values, *_names(columns, file)), []).append(literal_path(file.path))
    frames = [_group_frame(spark, columns, layout, paths) for layout, paths in groups.items()]
    return reduce(lambda one, other: one.unionByName(other), frames)


def _names(columns: TableColumns, file: File) -> tuple[Names, Made]:
    """Return what a file calls the columns and their parts: the same for all files, unless ids count before names."""
    if not columns.ids:
        return tuple(columns.names.items()), tuple(columns.made.items())
    with open_parquet(file.path) as opened:
        schema = opened.schema_arrow
    physical = columns.find(schema)
    names = ((name, physical.get(name, name_absent(name))) for name in columns.types if physical.get(name) != name)
    return tuple(names), tuple(columns.made_in(schema).items())


def _group_frame(spark: SparkSession, columns: TableColumns, layout: FileLayout, paths: Sequence[str]) -> DataFrame:
    """Return the rows of files that are alike."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructField, StructType

    schema = from_arrow_schema(pa.schema(list(columns.types.items())), prefer_timestamp_ntz=True)
    values, names, made = read_values(layout[0]), dict(layout[1]), dict(layout[2])
    in_files = from_arrow_schema(pa.schema(list(({**columns.types, **made}).items())), prefer_timestamp_ntz=True)
    beside = {name for name in values if not columns.ids or names.get(name) == name_absent(name)}
    physical = [
        StructField(names.get(each.name, each.name), each.dataType) for each in in_files if each.name not in beside
    ]
    read = spark.read.schema(StructType(physical)).parquet(*paths)

    def column(name: str) -> Column:
        if name in beside:
            return F.lit(values[name]).cast(schema[name].dataType).alias(name)
        own = F.col(in_backquotes(names.get(name, name)))
        return (own.cast(schema[name].dataType) if name in made else own).alias(name)  # by the places of its parts

    return read if not names and not beside and not made else read.select(*(column(name) for name in columns.types))


def arrived_files(spark: SparkSession, source: Stream) -> list[File]:
    """List the files of a stream as they are now; those of a table of Spark's catalog by Spark."""
    if not source.in_spark:
        return list_input_files(source)
    files = current_files(plain_path(uri) for uri in _catalog_table(spark, source).inputFiles())
    return sorted(files, key=lambda file: (file.modified, file.path))


def catalog_frame(spark: SparkSession, source: Stream, files: Sequence[File]) -> DataFrame:
    """Return the rows that some files of a table of Spark's catalog hold, in the columns that the table has now."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    table = _catalog_table(spark, source)
    paths = {file.path for file in files}
    uris = [uri for uri in table.inputFiles() if plain_path(uri) in paths]
    # of a local file Spark says file:/// where it lists it, and file:/ in the row
    spelled = {form for uri in uris for form in (uri, re.sub("^file:/+", "file:/", uri))}
    return table.where(F.col("_metadata.file_path").isin(sorted(spelled)))


def _leave_no_empty_folder(spark: SparkSession) -> None:
    """Remove the folder for tables that Spark has made where it was asked for one, unless it holds some."""
    place = urlsplit(str(spark.conf.get("spark.sql.warehouse.dir")))
    if place.scheme in ("", "file"):
        with suppress(OSError):
            os.rmdir(unquote(place.path))


def _catalog_table(spark: SparkSession, source: Stream) -> DataFrame:
    """Return a table of the session's catalog; refuse, in one line, what is none or has no files."""
    from pyspark.errors import AnalysisException

    try:
        table = spark.table(source.path)
    except AnalysisException:
        _leave_no_empty_folder(spark)
        raise HeddleError(
            f"{source.path}: the catalog of Spark's session has no such table; create it or mend `name` of stream "
            f"{source.name}"
        ) from None
    try:
        table.select("_metadata.file_path")
    except AnalysisException:
        raise HeddleError(
            f"{source.path}: is no table of files, so that nothing tells which of its rows are new; name a table of "
            "Parquet, ORC, CSV or JSON, or write source: {format: delta} or {format: iceberg}"
        ) from None
    return table
