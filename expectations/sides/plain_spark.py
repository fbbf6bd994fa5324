"""The naive recomputation: the user's own statement, on plain Spark, over the raw events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from expectations.sample.late_events import drop_missed_events, late_frame
from expectations.sample.statements import is_exact
from expectations.sample.windows import Part
from expectations.sides.row import COLUMNS, NAIVE_SCHEMA, OPEN, SCALE, about, key_text, past_edge, text_of
from jobs.engine.warehouse.consumed_files import batch_by_file
from jobs.engine.warehouse.manifest import Manifest
from jobs.engine.warehouse.statements import EvaluatedStatement
from jobs.host.storage import Storage
from jobs.spark.stream_frames import stream_frame
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Query, Stream
from optimizer.catalog.sql.expressions import quote
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING

START = "heddle start"
LAST = "last"  # event of a window in rows, which it became full by
SPANS = 32  # stretches of time that are read one by one; more of them are read as one
ORDERED = {  # by what their events are ordered; those of a mode are counted
    "first": "{ts}",
    "last": "{ts}",
    "argmin": "{y}",
    "argmax": "{y}",
    "mode": "0",
}
SCALES = {  # a sum near zero of large numbers, a small variance around a large mean: their last digits are rounding
    "sum": "sum(abs({x}))",
    "avg": "avg(abs({x}))",
    **dict.fromkeys(("var_pop", "var_samp"), "stddev_pop({x}) * sqrt(avg({x} * {x}))"),
    **dict.fromkeys(("stddev_pop", "stddev_samp"), "sqrt(avg({x} * {x}))"),
}


@dataclass(frozen=True)
class Naive:
    """Plain Spark over the events that were evaluated."""

    spark: SparkSession
    stream: Stream
    events: DataFrame
    late: DataFrame | None

    def rows(self, parts: Sequence[Part]) -> DataFrame:
        """Return Spark's answers in the windows of all parts."""
        frames = [self._answers(part) for part in parts]
        self.spark.catalog.dropTempView(self.stream.name)
        return reduce(DataFrame.unionAll, frames) if frames else self.spark.createDataFrame([], NAIVE_SCHEMA)

    def _answers(self, part: Part) -> DataFrame:
        events = self.events.where(_inside(part, self.events, self.stream.time))
        if part.barrier is not None and self.late is not None:
            late = self.late.where(_inside(part, self.late, self.stream.time))
            events = drop_missed_events(events, late, self.stream.time, part.barrier)
        events.createOrReplaceTempView(quote(self.stream.name))
        rows = long_rows(self.spark.sql(with_extras(part.statement, self.stream.time)), part.statement)
        wanted = (F.col("end") > part.low) & (F.col("end") <= part.high)
        if part.starts is not None:
            wanted &= F.col("start").isin(*part.starts)
        return rows.where(wanted).drop(LAST)


def naive_recomputation(
    spark: SparkSession, catalog: Catalog, stream: str, storage: Storage, manifest: Manifest
) -> Naive:
    """Return plain Spark over the files that the batches up to a manifest have consumed."""
    events = stream_frame(spark, catalog, stream, sorted(evaluated_files(storage, manifest)))
    return Naive(spark, catalog.streams[stream], events, late_frame(spark, storage, manifest))


def evaluated_files(storage: Storage, manifest: Manifest) -> dict[str, int]:
    """Return the files that the batches up to a manifest have consumed, with their batch; refuse when some are gone."""
    files = batch_by_file(storage, manifest)
    if not files:
        raise HeddleError(f"{storage.root}: nothing has been evaluated yet; run heddle evaluate first")
    gone = [file for file in files if "://" not in file and not Path(file).exists()]
    if gone:
        raise HeddleError(f"{gone[0]}: was evaluated and is gone, one of {len(gone)}; an audit needs the raw events")
    return files


def _inside(part: Part, events: DataFrame, time: str) -> Column:
    """Return a condition for the events of a part's windows that the reader of the files can push down."""
    kind, moment = events.schema[time].dataType, F.col(f"`{time}`")

    def at(ticks: int) -> Column:
        return F.timestamp_micros(F.lit(ticks)).cast(kind)

    spans = [
        (moment < at(high)) & (moment >= at(low) if low > BEGINNING else F.lit(True)) for low, high in _spans(part)
    ]
    return reduce(Column.__or__, spans)


def _spans(part: Part) -> list[tuple[int, int]]:
    size = part.statement.window.range
    if part.starts is None:
        return [(max(part.low - size, BEGINNING), part.high)]
    spans: list[tuple[int, int]] = []
    for start in part.starts:
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], start + size)
        else:
            spans.append((start, start + size))
    return spans if len(spans) <= SPANS else [(spans[0][0], spans[-1][1])]


def with_extras(statement: EvaluatedStatement, time: str) -> str:
    """Return the user's statement with more columns in front: window start, keys, and what leaves answers open."""
    last = f"unix_micros(cast(max({quote(time)}) AS TIMESTAMP))" if statement.window.rows else "0L"
    added = [f"window.start AS `{START}`", last, *map(quote, statement.first.group_by)]
    added += [
        extra for query in statement.queries.values() for extra in (_candidates(query, time), _scale(statement, query))
    ]
    return statement.statement.sql.replace("SELECT ", f"SELECT {', '.join(added)}, ", 1)


def _candidates(query: Query, time: str) -> str:
    """Return the SQL of every value with what it is ordered by."""
    if query.aggregate not in ORDERED:
        return "NULL"
    order = ORDERED[query.aggregate].format(ts=quote(time), y=query.arguments[-1])
    return f"collect_list(named_struct('by', {order}, 'value', {query.arguments[0]}))"


def _scale(statement: EvaluatedStatement, query: Query) -> str:
    if is_exact(statement, query.id) or query.aggregate not in SCALES:
        return "0D"
    return SCALES[query.aggregate].format(x=f"cast({query.arguments[0]} AS DOUBLE)")


def long_rows(answered: DataFrame, statement: EvaluatedStatement) -> DataFrame:
    """Return one row per query from one row per window; the columns are in the order of with_extras."""
    keys, in_rows = statement.first.group_by, statement.window.rows
    answered = answered.toDF(*(f"c{number}" for number in range(len(answered.columns))))
    columns = [F.col(name) for name in answered.columns]
    extras = columns[2 + len(keys) :]
    own = extras[2 * len(statement.queries) :]
    values = {column.source: own[place] for place, column in enumerate(statement.statement.columns)}
    answers = [_answer(statement, id, values[id], *extras[2 * n : 2 * n + 2]) for n, id in enumerate(statement.queries)]
    start = columns[0] if in_rows else F.unix_micros(columns[0].cast("timestamp"))
    end = start + F.lit(statement.window.range)
    rows = answered.select(
        columns[1].alias(LAST),
        key_text(dict(zip(keys, columns[2:], strict=False))).alias("key"),
        start.alias("start"),
        end.alias("end"),
        past_edge(start, F.lit(statement.window.slide), F.lit(statement.window.offset)).alias("past_edge"),
        F.lit(in_rows).alias("rows"),
        F.explode(F.array(*answers)).alias("answer"),
    )
    return rows.select(*rows.columns[:-1], "answer.*").select(*COLUMNS, OPEN, SCALE, LAST)


def _answer(statement: EvaluatedStatement, id: str, value: Column, candidates: Column, scale: Column) -> Column:
    query, floating = statement.queries[id], pa.types.is_floating(statement.types[id])
    nothing, ordered = F.lit(None), query.aggregate in ORDERED
    return F.struct(
        F.lit(id).alias("query"),
        F.lit(query.aggregate).alias("aggregate"),
        F.lit(about(query)).alias("about"),
        (text_of(value, floating) if is_exact(statement, id) else nothing.cast("string")).alias("text"),
        (nothing.cast("double") if is_exact(statement, id) else value.cast("double")).alias("number"),
        (_open(candidates, query, floating) if ordered else nothing.cast("array<string>")).alias(OPEN),
        scale.alias(SCALE),
    )


def _open(candidates: Column, query: Query, floating: bool) -> Column:
    """Return the values of the events that tie for the extreme."""
    if query.aggregate == "mode":
        return F.transform(_most_frequent(candidates), lambda value: text_of(value, floating))
    orders = F.transform(candidates, lambda candidate: candidate["by"])
    extreme = F.array_min(orders) if query.aggregate in ("first", "argmin") else F.array_max(orders)
    tied = F.filter(candidates, lambda candidate: candidate["by"] == extreme)
    return F.transform(tied, lambda candidate: text_of(candidate["value"], floating))


def _most_frequent(candidates: Column) -> Column:
    values = F.filter(F.transform(candidates, lambda candidate: candidate["value"]), lambda value: value.isNotNull())
    distinct = F.array_distinct(values)

    def count(value: Column) -> Column:
        return F.size(F.filter(values, lambda other: other == value))

    most = F.array_max(F.transform(distinct, count))
    return F.filter(distinct, lambda value: count(value) == most)
