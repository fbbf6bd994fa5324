"""The engine's side of an audit: its answers, read from the files that a manifest names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from expectations.sample.statements import by_grouping, is_exact
from expectations.sides.row import COLUMNS, SCHEMA, about, first_of, key_text, past_edge, text_of
from jobs.engine.program.program import key_column
from jobs.engine.warehouse.manifest import DataFile
from jobs.engine.warehouse.result_files import QUERY, START, value_column
from jobs.engine.warehouse.statements import EvaluatedStatement
from jobs.host.storage import Storage
from jobs.spark.result_frame import result_frame
from optimizer.windows.window import BEGINNING

LABEL = "label"
FACTS = pa.schema(
    [
        (LABEL, pa.string()),
        ("query", pa.string()),
        ("aggregate", pa.string()),
        ("about", pa.string()),
        ("range", pa.int64()),
        ("slide", pa.int64()),
        ("offset", pa.int64()),
        ("rows", pa.bool_()),
        ("exact", pa.bool_()),
        ("after", pa.int64()),
    ]
)


def engine_rows(
    spark: SparkSession, storage: Storage, files: Sequence[DataFile], statements: Iterable[EvaluatedStatement]
) -> DataFrame:
    """Return every answer to some statements from the files that hold it."""
    frames = []
    for grouping, members in by_grouping(statements).items():
        paths = [storage.uri(file.name) for file in files if file.grouping == grouping]
        if paths:
            frames.append(_rows(spark, paths, members))
    return reduce(DataFrame.unionByName, frames) if frames else spark.createDataFrame([], SCHEMA)


def _rows(spark: SparkSession, paths: list[str], members: Sequence[EvaluatedStatement]) -> DataFrame:
    keys = members[0].first.group_by
    kinds = list(dict.fromkeys(member.types[id] for member in members for id in member.queries))
    read = result_frame(spark, paths, {key: members[0].types[key] for key in keys}, kinds)
    facts = spark.createDataFrame(pa.Table.from_pylist(_facts(members), FACTS))
    start = F.unix_micros(F.col(START))
    named = read.withColumnRenamed(QUERY, LABEL).join(F.broadcast(facts), LABEL)
    named = named.where(start + F.col("range") > F.col("after"))
    text, number = _values(kinds)
    return named.select(
        "query",
        "aggregate",
        "about",
        key_text({key: F.col(f"`{key_column(key)}`") for key in keys}).alias("key"),
        start.alias("start"),
        (start + F.col("range")).alias("end"),
        past_edge(start, F.col("slide"), F.col("offset")).alias("past_edge"),
        "rows",
        F.when(F.col("exact"), text).alias("text"),
        F.when(~F.col("exact"), number).alias("number"),
    ).select(*COLUMNS)


def _values(kinds: Sequence[pa.DataType]) -> tuple[Column, Column]:
    """Return a row's answer as text and as a number: it is in the column of its type, and the others are null."""
    columns = {kind: F.col(f"`{value_column(kind)}`") for kind in kinds}
    texts = [text_of(column, pa.types.is_floating(kind)) for kind, column in columns.items()]
    numbers = [column.cast("double") for kind, column in columns.items() if pa.types.is_floating(kind)]
    return first_of(texts, "string"), first_of(numbers, "double")


def _facts(members: Sequence[EvaluatedStatement]) -> list[dict[str, Any]]:
    return [
        {
            LABEL: statement.labels[id],
            "query": id,
            "aggregate": query.aggregate,
            "about": about(query),
            "range": statement.window.range,
            "slide": statement.window.slide,
            "offset": statement.window.offset,
            "rows": statement.window.rows,
            "exact": is_exact(statement, id),
            "after": BEGINNING if statement.window.rows else statement.after,  # a time, which rows are not counted in
        }
        for statement in members
        for id, query in statement.queries.items()
    ]
