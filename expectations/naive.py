"""The naive recomputation: the user's own statement, on plain Spark, over the raw events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from expectations.asked import Asked
from expectations.missed import late_events, without_missed
from expectations.rows import COLUMNS, OPEN, SCHEMA, about, key_column, past_edge, text_of
from expectations.sample import Part
from jobs.engine.manifest import BEGINNING, Manifest
from jobs.engine.storage import Storage
from jobs.lanes import read_frame
from jobs.taken_files import taken_files
from optimizer.catalog.expressions import quote
from optimizer.catalog.query import Query, Stream
from optimizer.errors import HeddleError

START = "heddle start"
SPANS = 32  # stretches of time asked for one by one; more of them are read as one
ORDERED = {"first": "{ts}", "last": "{ts}", "argmin": "{y}", "argmax": "{y}"}  # by what their events are ordered


@dataclass(frozen=True)
class Naive:
    """Plain Spark over the events that were evaluated."""

    spark: SparkSession
    stream: Stream
    events: DataFrame
    late: DataFrame | None

    def rows(self, parts: Sequence[Part]) -> DataFrame:
        """Spark's answers in the windows asked for."""
        frames = [self._answers(part) for part in parts]
        return (
            reduce(DataFrame.unionAll, frames)
            if frames
            else self.spark.createDataFrame([], f"{SCHEMA}, {OPEN} array<string>")
        )

    def _answers(self, part: Part) -> DataFrame:
        events = self.events.where(_inside(part, self.stream.time))
        if part.barrier is not None and self.late is not None:
            events = without_missed(events, self.late, self.stream.time, part.barrier)
        events.createOrReplaceTempView(quote(self.stream.name))
        found = self.spark.sql(_sql(part.asked, self.stream.time))
        columns = [f"c{number}" for number in range(len(found.columns))]
        return _long(found.toDF(*columns), part)


def naive(spark: SparkSession, stream: Stream, storage: Storage, manifest: Manifest) -> Naive:
    """Plain Spark over the files that the batches up to a manifest have taken."""
    files = taken_files(storage, manifest)
    if not files:
        raise HeddleError(f"{storage.root}: nothing has been evaluated yet; run heddle evaluate first")
    return Naive(spark, stream, read_frame(spark, stream, files), late_events(spark, storage, manifest))


def _inside(part: Part, time: str) -> Column:
    """The events that can fall into the windows asked for."""
    ticks = F.unix_micros(F.col(f"`{time}`").cast("timestamp"))
    return reduce(Column.__or__, ((ticks >= low) & (ticks < high) for low, high in _spans(part)))


def _spans(part: Part) -> list[tuple[int, int]]:
    size = part.asked.window.range
    if part.starts is None:
        return [(max(part.low - size, BEGINNING), part.high)]
    spans: list[tuple[int, int]] = []
    for start in part.starts:
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], start + size)
        else:
            spans.append((start, start + size))
    return spans if len(spans) <= SPANS else [(spans[0][0], spans[-1][1])]


def _sql(asked: Asked, time: str) -> str:
    """The user's statement; before its own columns stand the window's start, the keys and what may tie."""
    added = [f"window.start AS `{START}`", *map(quote, asked.first.group_by)]
    added += [_candidates(query, time) for query in asked.queries.values() if query.aggregate in ORDERED]
    return asked.statement.sql.replace("SELECT ", f"SELECT {', '.join(added)}, ", 1)


def _candidates(query: Query, time: str) -> str:
    """Every value with what it is ordered by."""
    order = ORDERED[query.aggregate].format(ts=quote(time), y=query.arguments[-1])
    return f"collect_list(named_struct('by', {order}, 'value', {query.arguments[0]}))"


def _long(found: DataFrame, part: Part) -> DataFrame:
    """One row per query from one row per window."""
    asked, keys = part.asked, part.asked.first.group_by
    start = F.unix_micros(F.col("c0").cast("timestamp"))
    ties = {
        id: f"c{number}"
        for number, id in enumerate((q.id for q in asked.queries.values() if q.aggregate in ORDERED), 1 + len(keys))
    }
    own = 1 + len(keys) + len(ties)
    places = {column.source: F.col(f"c{own + n}") for n, column in enumerate(asked.statement.columns)}
    answers = [_answer(asked, id, places[id], ties.get(id)) for id in asked.queries]
    end = start + F.lit(asked.window.range)
    wanted = (end > part.low) & (end <= part.high)
    if part.starts is not None:
        wanted &= start.isin(*part.starts)
    rows = found.where(wanted).select(
        key_column({key: F.col(f"c{1 + n}") for n, key in enumerate(keys)}).alias("key"),
        start.alias("start"),
        end.alias("end"),
        past_edge(start, F.lit(asked.window.slide), F.lit(asked.window.offset)).alias("past_edge"),
        F.explode(F.array(*answers)).alias("answer"),
    )
    return rows.select("key", "start", "end", "past_edge", "answer.*").select(*COLUMNS, OPEN)


def _answer(asked: Asked, id: str, value: Column, ties: str | None) -> Column:
    query, floating = asked.queries[id], pa.types.is_floating(asked.types[id])
    nothing = F.lit(None)
    return F.struct(
        F.lit(id).alias("query"),
        F.lit(query.aggregate).alias("aggregate"),
        F.lit(about(query)).alias("about"),
        (text_of(value, floating) if asked.exact(id) else nothing.cast("string")).alias("text"),
        (nothing.cast("double") if asked.exact(id) else value.cast("double")).alias("number"),
        (_open(F.col(ties), query, floating) if ties else nothing.cast("array<string>")).alias(OPEN),
    )


def _open(candidates: Column, query: Query, floating: bool) -> Column:
    """The values of the events that tie for the extreme."""
    orders = F.transform(candidates, lambda each: each["by"])
    extreme = F.array_min(orders) if query.aggregate in ("first", "argmin") else F.array_max(orders)
    tied = F.filter(candidates, lambda each: each["by"] == extreme)
    return F.transform(tied, lambda each: text_of(each["value"], floating))
