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
from jobs.spark.result_frame import answers_frame
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CatalogOrFolder = Catalog | str | os.PathLike[str]


def read_results(spark: SparkSession, warehouse: str, catalog: CatalogOrFolder, query: str) -> DataFrame:
    """Read a query's answers, with the very columns and types of its SQL; takes the catalog, or the folder it is in."""
    return answers_frame(spark, published_files(warehouse, _as_catalog(catalog), query))


def results_table(warehouse: str, catalog: CatalogOrFolder, query: str) -> pa.Table:
    """Read a query's answers into an Arrow table in the memory of this process, by window and keys; needs no Spark."""
    return read_answers(published_files(warehouse, _as_catalog(catalog), query))


def late_table(warehouse: str, stream: str) -> pa.Table:
    """Read the events that windows missed: the columns the queries read, windows_missed, batch and its watermark."""
    storage = stream_storage(warehouse, stream)
    return read_late_files(storage, newest(storage).late)


def _as_catalog(catalog: CatalogOrFolder) -> Catalog:
    return catalog if isinstance(catalog, Catalog) else load_catalog(catalog)
