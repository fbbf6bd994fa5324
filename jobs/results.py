"""Published results: what the manifests of a warehouse name, with the columns of the user's SQL."""

from __future__ import annotations

import os
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

import pyarrow as pa

from jobs.engine.program.program import key_column
from jobs.engine.warehouse.late_files import read_late_files
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.engine.warehouse.published import Published, published
from jobs.engine.warehouse.read_answers import read_answers
from jobs.engine.warehouse.result_files import QUERY, START, value_column
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

CatalogOrFolder = Catalog | str | os.PathLike[str]


def read_results(spark: SparkSession, warehouse: str, catalog: CatalogOrFolder, query: str) -> DataFrame:
    """A query's answers, with the very columns and types of its SQL; the catalog, or the folder it is in."""
    from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

    found = published(warehouse, _loaded(catalog), query)
    rows = _rows(spark, found)
    if len(found.queries) > 1:
        rows = _side_by_side(found, rows)
    if found.window.rows:
        start = F.coalesce(F.unix_micros(F.col(START)), F.lit(0))  # never null, and Spark is to know it
        end = start + found.window.range
    else:
        start = F.col(START) if found.instant.tz else F.to_timestamp_ntz(F.col(START))
        end = start + F.expr(f"INTERVAL '{found.window.range}' MICROSECOND")
    sources = {
        "window": F.struct(start.alias("start"), end.alias("end")),
        "window.start": start,
        "window.end": end,
        **{key: F.col(f"`key {key}`") for key in found.keys},
        **{id: F.col(f"`answer {id}`") for id in found.queries},
    }
    return rows.select(*(sources[column.source].alias(column.name) for column in found.statement.columns))


def results_table(warehouse: str, catalog: CatalogOrFolder, query: str) -> pa.Table:
    """The same as an Arrow table in the memory of this process, by window and keys; needs no Spark."""
    return read_answers(published(warehouse, _loaded(catalog), query))


def late_table(warehouse: str, stream: str) -> pa.Table:
    """The events that some window missed: the columns the queries read, windows_missed, batch and its watermark."""
    storage = stream_storage(warehouse, stream)
    return read_late_files(storage, newest(storage).late)


def _loaded(catalog: CatalogOrFolder) -> Catalog:
    return catalog if isinstance(catalog, Catalog) else load_catalog(catalog)


def _rows(spark: SparkSession, found: Published) -> DataFrame:
    """One row per query, key and window, the answer in the column of its query."""
    from pyspark.sql import functions as F  # noqa: N812

    schema = _schema(found)
    paths = [found.storage.uri(file.name) for file in found.files]
    held = spark.read.schema(schema).parquet(*paths) if paths else spark.createDataFrame([], schema)
    answers = {
        id: F.when(F.col(QUERY) == label, F.col(f"`{value_column(found.types[id])}`"))
        for id, label in found.labels.items()
    }
    keys = [F.col(f"`key {key}`") for key in found.keys]
    named = [answer.alias(f"answer {id}") for id, answer in answers.items()]
    return held.where(F.col(QUERY).isin(*found.labels.values())).select(QUERY, *keys, START, *named)


def _schema(found: Published) -> StructType:
    from pyspark.sql.pandas.types import from_arrow_schema

    keys = [(key_column(key), found.types[key]) for key in found.keys]
    values = dict.fromkeys(found.types[id] for id in found.queries)
    fields = [(QUERY, pa.string()), *keys, (START, pa.timestamp("us", "UTC")), *((value_column(v), v) for v in values)]
    return from_arrow_schema(pa.schema(fields), prefer_timestamp_ntz=True)


def _side_by_side(found: Published, rows: DataFrame) -> DataFrame:
    """One row per key and window; grouping takes null for a key like any other."""
    from pyspark.sql import functions as F  # noqa: N812

    keys = [*(f"`key {key}`" for key in found.keys), START]
    answers = [F.first(F.col(f"`answer {id}`"), ignorenulls=True).alias(f"answer {id}") for id in found.queries]
    there: list[SparkColumn] = [F.bool_or(F.col(QUERY) == label) for label in found.labels.values()]
    return rows.groupBy(*keys).agg(*answers, reduce(and_, there).alias("complete")).where("complete")
