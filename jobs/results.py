"""Published results: what the manifests of a warehouse name, with the columns of the user's SQL."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pyarrow as pa

from jobs.engine.warehouse.late_files import read_late_files
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.engine.warehouse.read_answers import read_answers
from jobs.engine.warehouse.statements import published_files
from jobs.runs.open_windows import read_open_windows
from jobs.spark.result_frame import answers_frame
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OPEN = "open"  # the column that tells windows that have not ended
CatalogOrFolder = Catalog | str | os.PathLike[str]


def read_results(
    spark: SparkSession, warehouse: str, catalog: CatalogOrFolder, query: str, open: bool = False
) -> DataFrame:
    """Read a query's answers, with the very columns and types of its SQL; takes the catalog, or the folder it is in.

    With `open`, windows that have not ended are there, too, with their value so far: a column `open` tells which."""
    answers = answers_frame(spark, published_files(warehouse, _as_catalog(catalog), query))
    if not open:
        return answers
    from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

    so_far = spark.createDataFrame(read_open_windows(warehouse, _as_catalog(catalog), query), answers.schema)
    return answers.withColumn(OPEN, F.lit(False)).unionByName(so_far.withColumn(OPEN, F.lit(True)))


def results_table(warehouse: str, catalog: CatalogOrFolder, query: str, open: bool = False) -> pa.Table:
    """Read a query's answers into an Arrow table in the memory of this process, by window and keys; needs no Spark.

    With `open`, windows that have not ended are there, too; see `read_results`."""
    answers = read_answers(published_files(warehouse, _as_catalog(catalog), query))
    if not open:
        return answers
    so_far = read_open_windows(warehouse, _as_catalog(catalog), query)
    marked = [
        table.append_column(OPEN, pa.repeat(mark, table.num_rows)) for table, mark in ((answers, False), (so_far, True))
    ]
    return pa.concat_tables(marked)


def late_table(warehouse: str, stream: str) -> pa.Table:
    """Read the events that windows missed: the columns the queries read, windows_missed, batch and its watermark."""
    storage = stream_storage(warehouse, stream)
    return read_late_files(storage, newest(storage).late)


def _as_catalog(catalog: CatalogOrFolder) -> Catalog:
    return catalog if isinstance(catalog, Catalog) else load_catalog(catalog)
