"""CPU seconds by number of queries: plain Spark, DuckDB, polars and Heddle on the same events, and one scan of them.

Every peer is given what a careful user would give it: DuckDB and polars aggregate the events by machine and second
once, and answer every window from that. Plain Spark answers the user's own statements; of many, some are run and the
rest is extrapolated. Answers are compared before times.
"""

from __future__ import annotations

import os

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # CPU time is what is compared

import duckdb
import polars as pl
import pyarrow.dataset as ds

from benchmarks.engine_peers import by_polars
from benchmarks.engine_world import SECOND, World, cpu, measured, middle_point, world
from benchmarks.evidence.figure import Figure, Points, Progress, Size
from benchmarks.plain_spark import NATIVE, plain_spark
from jobs.results import results_table
from jobs.runs.in_process import evaluate_local
from jobs.runs.request import Options
from optimizer.catalog.model.query import Query

TITLE = "Heddle beside what a team would run instead"
KEYS = 10
DUCKDB_QUERIES = 20  # are run; their mean stands for the others


def measure(size: Size, progress: Progress) -> list[Figure]:
    """Return one figure: CPU seconds of every engine by number of queries."""
    events, counts = size.of(20_000, 1_000_000, 10_000_000), size.of((1, 10), (1, 10, 100), (1, 10, 100, 1_000))
    points: Points = {name: [] for name in ("plain Spark", "DuckDB", "polars", "Heddle", "one scan")}
    for count in counts:
        with world(events, KEYS, middle_point(count)) as place:
            progress(f"{count:,} queries over {events:,} events")
            compare_answers(place)
            scanned, ours, by_frames = measured(
                lambda place=place: scan(place),
                lambda place=place: place.local(),
                lambda place=place: by_polars(place),
                times=2,
                warm=1,
                clear=place.clear,
            )
            points["one scan"].append((count, scanned))
            points["Heddle"].append((count, ours))
            points["polars"].append((count, by_frames))
            points["DuckDB"].append((count, by_duckdb(place)))
            points["plain Spark"].append((count, by_plain_spark(place)))
    note = (
        f"{events:,} events of {KEYS} machines; sums and maxima, slides from the factors of 1,000 seconds, overlap "
        f"factors up to 100. Plain Spark ran {NATIVE} of the queries and DuckDB {DUCKDB_QUERIES}; beyond that, their "
        "mean stands for the others. Heddle runs in one process, with its results written."
    )
    title = "CPU seconds by number of queries"
    return [Figure("peers", title, "queries", "CPU seconds", points, note=note)]


def scan(place: World) -> object:
    """Read the columns that the queries need, once."""
    return ds.dataset(place.data).to_table(columns=["ts", "machine", "value"])


def compare_answers(place: World) -> None:
    """Raise where Heddle and polars differ on a query: speed is no use before that."""
    query = place.catalog.queries[0]
    warehouse = str(place.root / "compared")
    evaluate_local(place.catalog, place.plan, warehouse, Options(buckets=2))
    ours = pl.DataFrame(results_table(warehouse, place.catalog, query.id))
    by_polars(place)
    theirs = pl.read_parquet(place.root / "polars" / f"{query.id}.parquet")
    value = ours.columns[-1]
    ours = ours.select("machine", pl.col("window").struct.field("start").alias("ts"), pl.col(value).alias("ours"))
    both = ours.with_columns(pl.col("ts").cast(theirs.schema["ts"])).join(theirs, on=["machine", "ts"])
    apart = both.select((pl.col("ours") - pl.col(theirs.columns[-1])).abs().max()).item()
    place.clear()
    if both.is_empty() or apart > 1e-6:
        raise AssertionError(f"{query.id}: {len(both)} windows in common, {apart} apart")


def by_duckdb(place: World) -> float:
    """Return the CPU seconds of DuckDB: seconds of every machine, each unnested into its windows."""
    queries = place.catalog.queries
    chosen = queries[:: max(1, len(queries) // DUCKDB_QUERIES)][:DUCKDB_QUERIES]

    def seconds(asked: list[Query]) -> float:
        return cpu(lambda: _ask_duckdb(place, asked))

    fixed, some = seconds([]), seconds(list(chosen))
    return fixed + max(0.0, some - fixed) * len(queries) / len(chosen)


def _ask_duckdb(place: World, queries: list[Query]) -> None:
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(
        "CREATE TABLE seconds AS SELECT machine, epoch_us(ts) // 1000000 AS tick, max(value) AS m, sum(value) AS s "
        f"FROM read_parquet('{place.data}/*.parquet') GROUP BY ALL"
    )
    for query in queries:
        length, slide = query.window.range // SECOND, query.window.slide // SECOND
        answer = "max(m)" if query.aggregate == "max" else "sum(s)"
        first = f"(tick // {slide} - {length // slide - 1}) * {slide}"
        connection.sql(
            f"SELECT machine, begin, {answer} FROM (SELECT machine, m, s, unnest(range({first}, "
            f"tick // {slide} * {slide} + 1, {slide})) AS begin FROM seconds) GROUP BY machine, begin"
        ).to_arrow_table()


def by_plain_spark(place: World) -> float:
    """Return the CPU seconds of plain Spark for all queries, by the mean of those that it runs."""
    queries = len(place.catalog.queries)
    return plain_spark("native", place.root) * queries / min(NATIVE, queries)
