"""What is known of the answers' types without Spark."""

from __future__ import annotations

from collections.abc import Mapping

from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Query
from optimizer.catalog.spark_types.numbers import UNKNOWN
from optimizer.catalog.spark_types.parquet import Schema, Unread
from optimizer.catalog.spark_types.results import result_type
from optimizer.errors import Mistake
from optimizer.rewrite.columns import columns_of

ADDING = ("sum", "sum_squares", "avg")


def answer_types(catalog: Catalog, stream: str) -> dict[str, str]:
    """Spark's type of every query's answers; of none where the events are not there to be read."""
    try:
        schema = columns_of(catalog, stream)
    except Unread:
        return {}
    return {query.id: _type(query, schema) for query in catalog.of_stream(stream)}


def _type(query: Query, schema: Schema) -> str:
    try:
        return result_type(query, schema)
    except Mistake:  # Spark refuses the query; it says why better than a script that differs from it
        return UNKNOWN


def widens(query: Query, types: Mapping[str, str]) -> bool:
    """Whether a sum of sums may have another type than the sum: decimals grow with every sum."""
    found = types.get(query.id, UNKNOWN)
    return query.aggregate in ADDING and (found == UNKNOWN or found.startswith("decimal"))
