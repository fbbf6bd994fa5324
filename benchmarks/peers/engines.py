"""CPU seconds by number of queries: plain Spark, Flink, DuckDB, polars and Heddle on the same events, and one scan.

Every peer is given what a careful user would give it: DuckDB and polars aggregate the events by machine and second
once, and answer every window from that; Flink's own windows share the slices of a slide, and all queries are one job.
Plain Spark answers the user's own statements. Of many queries, some are run and the rest is extrapolated. Answers are
compared before times.
"""

from __future__ import annotations

import os

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # CPU time is what is compared

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds

from benchmarks.engine_peers import by_polars
from benchmarks.engine_world import SECOND, World, cpu, measured, middle_point, world
from benchmarks.evidence.figure import Figure, Points, Progress, Size
from benchmarks.peers import flink
from benchmarks.peers.flink import require_equal
from benchmarks.plain_spark import NATIVE, plain_spark
from jobs.results import results_table
from jobs.runs.in_process import evaluate_local
from jobs.runs.request import Options
from optimizer.catalog.model.query import Query

TITLE = "Heddle beside what a team would run instead"
KEYS = 10
DUCKDB_QUERIES, POLARS_QUERIES = 20, 100  # are run; their mean stands for the others


def measure(size: Size, progress: Progress) -> list[Figure]:
    """Return one figure: CPU seconds of every engine by number of queries."""
    events = size.of(20_000, 1_000_000, 10_000_000)
    counts = size.of((1, 10), (1, 10, 100, 1_000), (1, 10, 100, 1_000))
    with_flink = flink.PYTHON.exists()
    if not with_flink:
        progress(f"there is no {flink.PYTHON}: Flink is left out")
    peers = ("plain Spark", *["Flink SQL"] * with_flink, "DuckDB", "polars", "Heddle", "one scan")
    points: Points = {name: [] for name in peers}
    for count in counts:
        with world(events, KEYS, middle_point(count)) as place:
            progress(f"{count:,} queries over {events:,} events: answers compared")
            answers = compare_answers(place)
            progress(f"{count:,} queries: Heddle and polars")
            scanned, ours = measured(
                lambda place=place: scan(place),
                lambda place=place: place.local(),
                times=2,
                warm=1,
                clear=place.clear,
            )
            points["one scan"].append((count, scanned))
            points["Heddle"].append((count, ours))
            points["polars"].append((count, polars_seconds(place)))
            progress(f"{count:,} queries: DuckDB")
            points["DuckDB"].append((count, by_duckdb(place)))
            if with_flink:
                progress(f"{count:,} queries: Flink")
                points["Flink SQL"].append((count, flink.by_flink(place, shortest(place), answers)))
            progress(f"{count:,} queries: plain Spark")
            points["plain Spark"].append((count, by_plain_spark(place, answers)))
    by_flink = f"Flink {flink.FLINK_QUERIES}, " * with_flink
    note = (
        f"{events:,} events of {KEYS} machines; sums and maxima, slides from the factors of 1,000 seconds, overlap "
        f"factors up to 100. Plain Spark ran {NATIVE} of the queries, {by_flink}DuckDB {DUCKDB_QUERIES} and polars "
        f"{POLARS_QUERIES}; beyond that, their mean stands for the others. Heddle and polars write their results."
    )
    if with_flink:
        note += " Flink reads the events as CSV and throws its answers away; its start is not counted."
    title = "CPU seconds by number of queries"
    return [Figure("peers", title, "queries", "CPU seconds", points, note=note)]


def scan(place: World) -> object:
    """Read the columns that the queries need, once."""
    return ds.dataset(place.data).to_table(columns=["ts", "machine", "value"])


def compare_answers(place: World) -> pl.DataFrame:
    """Return the answers of one query; raise where polars or DuckDB differ: speed is no use before.

    Flink and plain Spark are held against them when their turn comes.

    Heddle answers the windows that have ended, as Spark does. Peers also answer those that have not, and polars begins
    with the window that starts at the first event.
    """
    query = shortest(place)
    warehouse = str(place.root / "compared")
    evaluate_local(place.catalog, place.plan, warehouse, Options(buckets=2))
    table = pl.DataFrame(results_table(warehouse, place.catalog, query.id))
    start = pl.col("window").struct.field("start").dt.replace_time_zone(None).dt.cast_time_unit("us")
    ours = table.select("machine", start.alias("start"), pl.col(table.columns[-1]).alias("answer"))
    by_polars(place, [query])
    polars = pl.read_parquet(place.root / "polars" / f"{query.id}.parquet")
    polars = polars.with_columns(pl.col("ts").dt.replace_time_zone(None).dt.cast_time_unit("us"))
    place.clear()
    duckdb_rows = pl.DataFrame(_ask_duckdb(place, [query])[0])
    duckdb_rows = duckdb_rows.with_columns(pl.from_epoch("begin", "s").dt.cast_time_unit("us"))
    for name, rows, peer in (
        ("polars", ours.filter(pl.col("start").dt.epoch() >= 0), polars),
        ("DuckDB", ours, duckdb_rows),
    ):
        require_equal(name, rows, peer.rename(dict(zip(peer.columns, ("machine", "start", "theirs"), strict=True))))
    return ours


def shortest(place: World) -> Query:
    """Return the query with the shortest range: most of its windows end."""
    return min(place.catalog.queries, key=lambda query: (query.window.range, query.id))


def polars_seconds(place: World) -> float:
    """Return the CPU seconds of polars for all queries, by those that it runs."""
    queries = place.catalog.queries
    chosen = queries[:: max(1, len(queries) // POLARS_QUERIES)][:POLARS_QUERIES]
    fixed, some = measured(
        lambda: by_polars(place, []), lambda: by_polars(place, chosen), times=2, warm=1, clear=place.clear
    )
    return some if len(chosen) == len(queries) else fixed + (some - fixed) * len(queries) / len(chosen)


def by_duckdb(place: World) -> float:
    """Return the CPU seconds of DuckDB: seconds of every machine, each unnested into its windows."""
    queries = place.catalog.queries
    chosen = queries[:: max(1, len(queries) // DUCKDB_QUERIES)][:DUCKDB_QUERIES]

    def seconds(asked: list[Query]) -> float:
        return cpu(lambda: _ask_duckdb(place, asked))

    fixed, some = seconds([]), seconds(list(chosen))
    return fixed + max(0.0, some - fixed) * len(queries) / len(chosen)


def _ask_duckdb(place: World, queries: list[Query]) -> list[pa.Table]:
    answers = []
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(
        "CREATE TABLE seconds AS SELECT machine, epoch_us(ts) // 1000000 AS tick, max(value) AS m, sum(value) AS s "
        f"FROM read_parquet('{place.data}/*.parquet') GROUP BY ALL"
    )
    for query in queries:
        length, slide = query.window.range // SECOND, query.window.slide // SECOND
        answer = "max(m)" if query.aggregate == "max" else "sum(s)"
        first = f"(tick // {slide} - {length // slide - 1}) * {slide}"
        rows = connection.sql(
            f"SELECT machine, begin, {answer} FROM (SELECT machine, m, s, unnest(range({first}, "
            f"tick // {slide} * {slide} + 1, {slide})) AS begin FROM seconds) GROUP BY machine, begin"
        )
        answers.append(rows.to_arrow_table())
    return answers


def by_plain_spark(place: World, answers: pl.DataFrame) -> float:
    """Return the CPU seconds of plain Spark for all queries, by those that it runs; one's answers are compared."""
    plain_spark(shortest(place).id, place.root)
    theirs = pl.read_parquet(place.root / "native" / "*.parquet")
    start = pl.col("start").dt.replace_time_zone(None).dt.cast_time_unit("us")
    require_equal("plain Spark", answers, theirs.with_columns(start))
    queries = len(place.catalog.queries)
    return plain_spark("native", place.root) * queries / min(NATIVE, queries)
