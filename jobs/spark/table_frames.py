"""Files of a table as a DataFrame: of Delta and Iceberg by Spark's own Parquet reader, without a connector; of any
table of the session's catalog by the table itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa

from jobs.engine.events.parquet import open_parquet
from jobs.engine.sources import list_input_files, table_columns
from jobs.engine.sources.contract import TableColumns, read_values
from jobs.engine.sources.files import File, current_files
from jobs.engine.warehouse.consumed_files import plain_path
from optimizer.catalog.model.query import Stream
from optimizer.catalog.sql.expressions import in_backquotes
from optimizer.errors import HeddleError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

FileLayout = tuple[str, tuple[tuple[str, str], ...]]  # the values beside a file, and what it calls its columns


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
        groups.setdefault((file.values, _names(columns, file)), []).append(literal_path(file.path))
    frames = [_group_frame(spark, columns, layout, paths) for layout, paths in groups.items()]
    return reduce(lambda one, other: one.unionByName(other), frames)


def _names(columns: TableColumns, file: File) -> tuple[tuple[str, str], ...]:
    """Return what a file calls the columns: the same for all files, unless ids count before names."""
    if not columns.ids:
        return tuple(columns.names.items())
    with open_parquet(file.path) as opened:
        physical = columns.find(opened.schema_arrow)
    return tuple((name, physical.get(name, _absent(name))) for name in columns.types if physical.get(name) != name)


def _absent(name: str) -> str:
    """Return a name that no file has: a column that a file lacks may be called as another was, and is null."""
    return f"{name} of no file"


def _group_frame(spark: SparkSession, columns: TableColumns, layout: FileLayout, paths: Sequence[str]) -> DataFrame:
    """Return the rows of files that are alike."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructField, StructType

    schema = from_arrow_schema(pa.schema(list(columns.types.items())), prefer_timestamp_ntz=True)
    values, names = read_values(layout[0]), dict(layout[1])
    beside = {name for name in values if not columns.ids or names.get(name) == _absent(name)}
    physical = [
        StructField(names.get(each.name, each.name), each.dataType) for each in schema if each.name not in beside
    ]
    read = spark.read.schema(StructType(physical)).parquet(*paths)

    def column(name: str) -> Column:
        if name in beside:
            return F.lit(values[name]).cast(schema[name].dataType).alias(name)
        return F.col(in_backquotes(names.get(name, name))).alias(name)

    return read if not names and not beside else read.select(*(column(name) for name in columns.types))


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


def _catalog_table(spark: SparkSession, source: Stream) -> DataFrame:
    """Return a table of the session's catalog; refuse, in one line, what is none or has no files."""
    from pyspark.errors import AnalysisException

    try:
        table = spark.table(source.path)
    except AnalysisException:
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
