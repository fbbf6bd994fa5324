"""What the windows of a statement hold that have not ended yet: the value so far, from the retained slices."""

from __future__ import annotations

import pyarrow as pa

from jobs.engine.batch.in_memory import answer_open_windows, by_label, statement_rows
from jobs.engine.program.compile import compile_program
from jobs.engine.program.spark_types import parse_type
from jobs.engine.warehouse.lifecycle import plan_in_force, stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.engine.warehouse.read_answers import show_columns
from jobs.engine.warehouse.statements import evaluated_statement, statement_named
from jobs.runs.run import frame_queries
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError


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
