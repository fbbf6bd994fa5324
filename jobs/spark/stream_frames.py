"""A stream's events as a DataFrame: files by Spark's own reader, and what the SQL of a stream makes of them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from jobs.engine.sources.files import File
from jobs.spark.table_frames import catalog_frame, literal_path, table_frame
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Stream, Table
from optimizer.catalog.model.source_files import LISTING_OPTIONS, reads_below
from optimizer.catalog.sql.expressions import parse, print_tree
from optimizer.errors import HeddleError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

SCHEMA = "schema"
NOT_FOR_READER = LISTING_OPTIONS | {"maxFilesPerTrigger"}


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
    """Return the rows of some files; those of later batches in the types of the first.

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
    """Return a stream's events, made from those of its driver."""
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
