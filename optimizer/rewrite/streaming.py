"""The plan as a program of chained Structured Streaming queries, for a Spark without the engine.

One query reads the events; of every micro-batch it appends the slices of all trees to files. A query per statement
reads these files as a stream, and folds the slices of each window. What arrives in several batches makes several rows
of one slice, which the fold merges. A heartbeat, a row that holds nothing but the batch's latest time, carries the
watermark up, so that windows end, and events are late for a window, as if the statement had read the events itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Query
from optimizer.catalog.sql.expressions import free_name, quote
from optimizer.errors import HeddleError
from optimizer.plan.definition import EVENTS, Plan
from optimizer.rewrite.script import lay_out, members_of
from optimizer.rewrite.views import SCHEMA, slices_sql

PROGRAM = '''"""Chained Structured Streaming queries over the stream {stream}: spark-submit THIS_FILE FOLDER

Slices, answers and checkpoints go to the folder. A run takes what has arrived since the last one.
"""

import sys
from pathlib import Path

from pyspark.sql import SparkSession

FOLDER = Path(sys.argv[1]).absolute()
EVENTS = {stream!r}
LATENESS = "{lateness} microseconds"

# the slices of a micro-batch by tree, feeders first
TREES = {trees}

# the trees whose slices others read
SHARED = {shared!r}

# the tree that a statement reads; a statement that is not named here reads the events
SOURCES = {sources!r}

# the answers of every statement
ANSWERS = {answers}

# the latest time of a micro-batch, twice: a row of slices that is none
HEARTBEAT = {heartbeat!r}

# True for slices; Spark filters before it looks at the time unless the condition names it
IS_SLICE = {is_slice!r}

spark = SparkSession.builder.getOrCreate()
spark.conf.set("spark.sql.session.timeZone", {zone!r})
checkpoints = FOLDER / "checkpoints"


def save_slices(events, batch):
    """Write the slices of a micro-batch; a batch that is run again writes over what it wrote."""
    session = events.sparkSession
    events.createOrReplaceTempView(EVENTS)
    slices = {{}}
    for view, sql in TREES.items():
        slices[view] = session.sql(sql)
        if view in SHARED:
            slices[view].persist()
        slices[view].createOrReplaceTempView(view)
    heartbeat = session.sql(HEARTBEAT)
    for view in set(SOURCES.values()):
        rows = slices[view].unionByName(heartbeat, allowMissingColumns=True)
        rows.write.mode("overwrite").parquet(str(FOLDER / "slices" / view / f"batch-{{batch}}"))
    for view in SHARED:
        slices[view].unpersist()


def open_slices(view, schema):
    """Open the slices that a tree wrote as a stream, with the watermark of the events."""
    folder = FOLDER / "slices" / view
    folder.mkdir(parents=True, exist_ok=True)
    stream = spark.readStream.schema(schema).option("recursiveFileLookup", True).parquet(str(folder))
    stream = stream.withWatermark({slice!r}, LATENESS).where(IS_SLICE).drop({latest!r})
    stream.createOrReplaceTempView(view)


reader = spark.read.format({format!r}).options(**{options!r})
columns = {columns!r} or reader.load({path!r}).schema
events = spark.readStream.format({format!r}).options(**{options!r}).schema(columns).load({path!r})
events.createOrReplaceTempView(EVENTS)
schemas = {{}}
for view, sql in TREES.items():
    slices = spark.sql(sql)
    slices.createOrReplaceTempView(view)
    schemas[view] = slices.unionByName(spark.sql(HEARTBEAT), allowMissingColumns=True).schema
if SOURCES:
    writer = events.writeStream.foreachBatch(save_slices).trigger(availableNow=True)
    writer.option("checkpointLocation", str(checkpoints / "slices")).start().awaitTermination()
events.withWatermark({time!r}, LATENESS).createOrReplaceTempView(EVENTS)
for view in set(SOURCES.values()):
    open_slices(view, schemas[view])
for name, sql in ANSWERS.items():
    writer = spark.sql(sql).writeStream.outputMode("append").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(checkpoints / "answers" / name))
    writer.start(str(FOLDER / "answers" / name), format="parquet").awaitTermination()
'''


@dataclass(frozen=True)
class StreamingScript:
    """A program that runs a plan, with what it answers."""

    text: str
    answers: Mapping[str, str]
    as_written: tuple[str, ...]  # statements that read the events as the user wrote them
    left_out: tuple[str, ...]  # statements that no Structured Streaming query answers


def rewrite_streaming(catalog: Catalog, plan: Plan, types: Mapping[str, str]) -> StreamingScript:
    """Rewrite a plan as a program for Structured Streaming, whose answers are those of the user's statements.

    Statements that Spark answers for a whole table only (windows in rows, DISTINCT) are left out.
    """
    source = catalog.streams[plan.stream]
    if source.sql or not source.path or source.has_log:
        raise HeddleError(f"stream {source.name}: --streaming takes a stream of files that Spark reads by itself")
    layout = lay_out(catalog, plan, types, may_cover=False)
    names = layout.names
    queries = members_of(catalog, plan.stream)
    left_out = tuple(name for name in layout.as_written if any(map(_takes_a_table, queries[name])))
    answers = {name: sql for name, sql in layout.answers.items() if name not in left_out}
    latest = free_name("latest", {key.lower() for tree in plan.trees for key in tree.group_by} | {names.slice})
    time, start = quote(source.time), quote(names.slice)
    text = PROGRAM.format(
        stream=source.name,
        lateness=source.lateness,
        trees=_literal(
            {names.trees[tree.id]: slices_sql(layout.plan, tree, names, source.time) for tree, _ in layout.trees}
        ),
        shared=sorted({names.trees[tree.feed] for tree, _ in layout.trees if tree.feed != EVENTS}),
        sources={name: names.trees[tree] for name, tree in layout.sources.items()},
        answers=_literal(answers),
        heartbeat=f"SELECT max({time}) AS {start}, max({time}) AS {quote(latest)} FROM {quote(source.name)}",
        is_slice=f"{quote(latest)} IS NULL OR {quote(latest)} <> {start}",
        slice=names.slice,
        latest=latest,
        zone=source.zone,
        format=source.format,
        options={key: text for key, text in source.options.items() if key != SCHEMA},
        columns=source.options.get(SCHEMA, ""),
        path=source.path,
        time=source.time,
    )
    return StreamingScript(text, answers, tuple(n for n in layout.as_written if n in answers), left_out)


def _takes_a_table(query: Query) -> bool:
    return bool(query.window.rows) or "DISTINCT" in AGGREGATES[query.aggregate].spark


def _literal(statements: Mapping[str, str]) -> str:
    r"""Return statements as a dictionary of a program, line by line.

    >>> print(_literal({"a": "SELECT\n  1"}))
    {
        'a': (
            'SELECT\n'
            '  1'
        ),
    }
    """
    entries = []
    for name, sql in statements.items():
        lines = "\n".join(f"        {line!r}" for line in sql.splitlines(keepends=True))
        entries.append(f"    {name!r}: (\n{lines}\n    ),\n")
    return "{\n" + "".join(entries) + "}"
