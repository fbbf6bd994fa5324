"""CPU seconds by number of queries: Spark, Flink, DuckDB, pandas, polars and Heddle on the same events, and one scan.

Every peer is given what a careful user would give it (libraries.py, flink.py); plain Spark answers the user's own
statements, as a batch and as streams. Of many queries, the engines run some and the rest is extrapolated; the libraries
run all. Answers are compared before times.
"""

from __future__ import annotations

import polars as pl
import pyarrow.dataset as ds

from benchmarks.engine_world import World, measured, middle_point, world
from benchmarks.evidence.figure import Figure, Points, Progress, Size
from benchmarks.peers import flink
from benchmarks.peers.flink import require_equal
from benchmarks.peers.libraries import LIBRARIES, answer_all
from benchmarks.plain_spark import NATIVE, STREAMED, plain_spark
from jobs.results import results_table
from jobs.runs.in_process import evaluate_local
from jobs.runs.request import Options
from optimizer.catalog.model.query import Query

TITLE = "Heddle beside what a team would run instead"
KEYS = 10
SPARK = {"plain Spark": ("native", NATIVE), "Structured Streaming": ("streamed", STREAMED)}  # and how many it runs


def measure(size: Size, progress: Progress) -> list[Figure]:
    """Return one figure: CPU seconds of every engine by number of queries."""
    events = size.of(20_000, 1_000_000, 10_000_000)
    counts = size.of((1, 4), (1, 10, 100, 1_000), (1, 10, 100, 1_000))
    with_flink = flink.PYTHON.exists()
    if not with_flink:
        progress(f"there is no {flink.PYTHON}: Flink is left out")
    peers = (*SPARK, *["Flink SQL"] * with_flink, "DuckDB", "pandas", "polars", "Heddle", "one scan")
    points: Points = {name: [] for name in peers}
    for count in counts:
        with world(events, KEYS, middle_point(count)) as place:
            progress(f"{count:,} queries over {events:,} events: Heddle")
            answers = our_answers(place)
            scanned, ours = measured(
                lambda place=place: scan(place), lambda place=place: place.local(), times=2, warm=1, clear=place.clear
            )
            points["one scan"].append((count, scanned))
            points["Heddle"].append((count, ours))
            for library in LIBRARIES:
                progress(f"{count:,} queries: {library}")
                points[library].append((count, by_library(place, library, answers)))
            if with_flink:
                progress(f"{count:,} queries: Flink")
                points["Flink SQL"].append((count, flink.by_flink(place, shortest(place), answers)))
            for name in SPARK:
                progress(f"{count:,} queries: {name}")
                points[name].append((count, by_spark(place, name, answers)))
    by_flink = f", Flink {flink.FLINK_QUERIES} in one job" * with_flink
    note = (
        f"{events:,} events of {KEYS} machines; sums and maxima, slides from the factors of 1,000 seconds, overlap "
        f"factors up to 100. Plain Spark ran {NATIVE} of the queries, Structured Streaming {STREAMED}{by_flink}; their "
        "mean stands for the others. DuckDB, pandas, polars and Heddle answer all and write their results: the first "
        "three by hand, from seconds that all queries share, in frames over the slides."
    )
    if with_flink:
        note += " Flink reads the events as CSV and throws its answers away; its start is not counted."
    title = "CPU seconds by number of queries"
    return [Figure("peers", title, "queries", "CPU seconds", points, note=note)]


def scan(place: World) -> object:
    """Read the columns that the queries need, once."""
    return ds.dataset(place.data).to_table(columns=["ts", "machine", "value"])


def our_answers(place: World) -> pl.DataFrame:
    """Return what Heddle answers for one query, which every peer is held against before it is timed.

    Heddle answers the windows that have ended, as Spark does. Peers may also answer those that have not.
    """
    query = shortest(place)
    warehouse = str(place.root / "compared")
    evaluate_local(place.catalog, place.plan, warehouse, Options(buckets=2))
    table = pl.DataFrame(results_table(warehouse, place.catalog, query.id))
    start = pl.col("window").struct.field("start").dt.replace_time_zone(None).dt.cast_time_unit("us")
    return table.select("machine", start.alias("start"), pl.col(table.columns[-1]).alias("answer"))


def shortest(place: World) -> Query:
    """Return the query with the shortest range: most of its windows end."""
    return min(place.catalog.queries, key=lambda query: (query.window.range, query.id))


def by_library(place: World, library: str, answers: pl.DataFrame) -> float:
    """Return the CPU seconds of a library for all queries; one's answers are compared before."""
    query = shortest(place)
    theirs = pl.read_parquet(answer_all(place, library, [query]) / f"{query.id}.parquet")
    place.clear()
    require_equal(library, answers, _aligned(theirs))
    queries = list(place.catalog.queries)
    return measured(lambda: answer_all(place, library, queries), times=1, warm=1, clear=place.clear)[0]


def by_spark(place: World, name: str, answers: pl.DataFrame) -> float:
    """Return the CPU seconds of Spark for all queries, by those that it runs; one's answers are compared before."""
    what, most = SPARK[name]
    plain_spark(what, place.root, shortest(place).id)
    require_equal(name, answers, _aligned(pl.read_parquet(place.root / what / "*.parquet")))
    queries = len(place.catalog.queries)
    return plain_spark(what, place.root) * queries / min(most, queries)


def _aligned(theirs: pl.DataFrame) -> pl.DataFrame:
    return theirs.with_columns(pl.col("start").dt.replace_time_zone(None).dt.cast_time_unit("us"))
