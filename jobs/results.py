"""Results with the columns of the user's SQL: those published, and windows that have not ended yet."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pyarrow as pa

from jobs.engine.batch.in_memory import answer_open_windows, by_label, statement_rows
from jobs.engine.program.compile import compile_program
from jobs.engine.program.spark_types import parse_type
from jobs.engine.warehouse.lifecycle import plan_in_force, stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.engine.warehouse.read_answers import read_answers, show_columns
from jobs.engine.warehouse.result_files import read_late_files
from jobs.engine.warehouse.statements import evaluated_statement, published_files, statement_named
from jobs.runs.run import frame_queries
from jobs.spark.result_frame import answers_frame
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OPEN = "open"  # the column that tells windows that have not ended
CatalogOrFolder = Catalog | str | os.PathLike[str]


def read_results(
    spark: SparkSession,
    warehouse: str,
    catalog: CatalogOrFolder,
    query: str,
    open: bool = False,
    revisions: bool = False,
) -> DataFrame:
    """Read a query's answers, with the very columns and types of its SQL; takes the catalog, or the folder it is in.

    With `open`, windows that have not ended are there, too, with their value so far: a column `open` tells which.
    Of windows that late events have corrected, the newest answer is there; with `revisions` every one, numbered by a
    column `revision` from 0 on."""
    _refuse_both(open, revisions)
    answers = answers_frame(spark, published_files(warehouse, _as_catalog(catalog), query), revisions)
    if not open:
        return answers
    from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

    so_far = spark.createDataFrame(read_open_windows(warehouse, _as_catalog(catalog), query), answers.schema)
    return answers.withColumn(OPEN, F.lit(False)).unionByName(so_far.withColumn(OPEN, F.lit(True)))


def results_table(
    warehouse: str, catalog: CatalogOrFolder, query: str, open: bool = False, revisions: bool = False
) -> pa.Table:
    """Read a query's answers into an Arrow table in the memory of this process, by window and keys; needs no Spark.

    With `open`, windows that have not ended are there, too, with `revisions` every answer to a window that late events
    have corrected; see `read_results`."""
    _refuse_both(open, revisions)
    answers = read_answers(published_files(warehouse, _as_catalog(catalog), query), revisions)
    if not open:
        return answers
    so_far = read_open_windows(warehouse, _as_catalog(catalog), query)
    marked = [
        table.append_column(OPEN, pa.repeat(mark, table.num_rows)) for table, mark in ((answers, False), (so_far, True))
    ]
    return pa.concat_tables(marked)


def read_open_windows(warehouse: str, catalog: Catalog, query: str) -> pa.Table:
    """Read the open windows of a query, by its id or by that of one of its aggregates, with the columns of its SQL."""
    id = statement_named(catalog, query)
    stream = catalog.stream_of(id)
    storage = stream_storage(warehouse, stream)
    manifest = newest(storage)
    plan, statement = plan_in_force(storage, manifest), evaluated_statement(catalog, id, manifest.types)
    woven = {str(member) for tree in plan.trees for member in tree.queries} if plan else set()
    if plan is None or statement is None or plan.catalog_fingerprint != catalog.fingerprint(stream):
        raise HeddleError(
            f"query {query} has not been evaluated in {warehouse} with this catalog yet; "
            f"run heddle evaluate CATALOG --stream {stream} --warehouse {warehouse}"
        )
    types = {name: parse_type(text) for name, text in manifest.types.items()}
    program = compile_program(catalog, plan, types, frame_queries(catalog, plan, storage, manifest))
    apart = statement.queries.keys() - woven | {unshared.id for unshared in program.unshared} & statement.queries.keys()
    if apart:
        raise HeddleError(f"query {query}: plain Spark answers it when its windows end; it has no open ones")
    parts = [
        statement_rows(statement, by_label(answered), {})
        for answered in answer_open_windows(program, storage, manifest)
    ]
    filled = [part for part in parts if part.num_rows] or [statement_rows(statement, {}, {})]
    return show_columns(statement, pa.concat_tables(filled))


def _refuse_both(open: bool, revisions: bool) -> None:
    if open and revisions:
        raise HeddleError("a window that has not ended has no revisions; ask for one of the two")


def late_table(warehouse: str, stream: str) -> pa.Table:
    """Read the events that windows missed: the columns the queries read, windows_missed, batch and its watermark."""
    storage = stream_storage(warehouse, stream)
    return read_late_files(storage, newest(storage).late)


def _as_catalog(catalog: CatalogOrFolder) -> Catalog:
    return catalog if isinstance(catalog, Catalog) else load_catalog(catalog)
