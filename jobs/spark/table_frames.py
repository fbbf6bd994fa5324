"""Files of a Delta or Iceberg table as a DataFrame, by Spark's own Parquet reader: no connector is needed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa

from jobs.engine.events.parquet import open_parquet
from jobs.engine.sources import table_columns
from jobs.engine.sources.contract import TableColumns, read_values
from jobs.engine.sources.files import File
from optimizer.catalog.model.query import Stream
from optimizer.catalog.sql.expressions import in_backquotes

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
