"""Distinct counts, medians and percentiles over sliding windows, shared, against native Spark: CPU seconds of one run.

Ten queries of a family, with overlap factors from 6 to 60. The answers are compared with Spark's before anything is
measured. Spark copies every event into each window that holds it, so a few of the ten are run by Spark, and their
seconds are scaled by the copies that all ten make.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

from benchmarks.engine_world import RATE, SECOND, World, cpu, show
from benchmarks.verdict import Bound, print_verdict
from jobs.results import read_results
from jobs.runs.on_spark import evaluate
from jobs.spark.session import spark_session
from optimizer.catalog.read.load import load_catalog
from optimizer.planning.stream import plan_stream

SLIDE = 10  # seconds
OVERLAPS = range(6, 61, 6)
FAMILIES: dict[str, tuple[tuple[str, ...], float]] = {  # what the ten ask for in turn, and how much cheaper it must be
    "approx_count_distinct": (("approx_count_distinct(user)",), 20.0),
    "count(DISTINCT)": (("count(DISTINCT user)",), 10.0),
    "medians and percentiles": (("median(latency)", "percentile(latency, 0.95)", "percentile(latency, 0.99)"), 10.0),
}


def write_events(folder: Path, events: int, keys: int, files: int = 10) -> None:
    """Write requests: who asked which of some servers, and how many tenths of a millisecond it took."""
    rng = np.random.default_rng(1)
    folder.mkdir()
    for number, part in enumerate(np.array_split(np.arange(events), files)):
        table = pa.table(
            {
                "ts": pa.array(part * SECOND // RATE, pa.timestamp("us", "UTC")),
                "server": rng.integers(0, keys, len(part)),
                "user": rng.zipf(1.3, len(part)) % 20_000,
                "latency": np.round(rng.lognormal(3.0, 1.0, len(part)), 1),
            }
        )
        pq.write_table(table, folder / f"part-{number:06d}.parquet")


def make_world(root: Path, selects: tuple[str, ...]) -> World:
    """Write the catalog of a family beside the events; plan it as `heddle evaluate` plans a stream."""
    source = f"{{format: parquet, path: {root / 'data'}}}"
    lines = ["streams:", f"  events: {{source: {source}, time: ts, lateness: 0 seconds}}", "queries:"]
    for number, overlap in enumerate(OVERLAPS):
        clock = f"range: {overlap * SLIDE} seconds, slide: {SLIDE} seconds"
        select = selects[number % len(selects)]
        lines.append(f'  - {{id: q{number}, stream: events, select: "{select}", group_by: [server], {clock}}}')
    (root / "catalog.yaml").write_text("\n".join(lines))
    catalog = load_catalog(root)
    return World(root, catalog, plan_stream(catalog, "events", RATE, "shared"))


def count_differences(spark: SparkSession, world: World, query: str) -> int:
    """Return how many rows of a query differ from those that Spark has written, among the windows that ended."""
    ours = read_results(spark, str(world.root / "compared"), world.catalog, query)
    latest = spark.read.parquet(str(world.data)).selectExpr("max(ts) AS ts").collect()[0].ts
    theirs = spark.read.parquet(str(world.root / query)).where(F.col("window.end") <= latest)
    return ours.exceptAll(theirs).count() + theirs.exceptAll(ours).count()


def compare_and_measure(spark: SparkSession, root: Path, family: str, native: int, rounds: int) -> list[Bound]:
    """Print how many times as much Spark takes for a family; return that and how many answers differ, as bounds."""
    selects, bound = FAMILIES[family]
    world = make_world(root, selects)
    evaluate(spark, world.catalog, world.plan, str(root / "compared"))
    spark.read.parquet(str(world.data)).createOrReplaceTempView("events")
    some = [f"q{number}" for number in range(0, len(OVERLAPS), max(len(OVERLAPS) // native, 1))][:native]
    texts = {query: world.catalog.statements[query].sql for query in some}
    theirs = cpu(lambda: [spark.sql(text).write.parquet(str(root / query)) for query, text in texts.items()])
    differences = sum(count_differences(spark, world, query) for query in some)
    ours = min(cpu(lambda: world.job(spark), world.clear) for _ in range(rounds))
    copies = sum(OVERLAPS) / sum(OVERLAPS[int(query[1:])] for query in some)
    detail = f"ours {ours:.1f} s, Spark's {theirs:.1f} s for {native} of 10, times {copies:.1f}; {differences} differ"
    name = f"10 {family}: Spark against ours"
    show(name, theirs * copies / ours, f"at least {bound:g}", detail)
    return [
        Bound(name, theirs * copies / ours, bound, least=True),
        Bound(f"{family}: rows that differ", differences, 0),
    ]


def main() -> int:
    """Measure every family."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=100)
    parser.add_argument("--native", type=int, default=2, help="queries of the ten that Spark runs itself")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=FAMILIES)
    asked = parser.parse_args()
    spark, bounds = spark_session("local[2]"), list[Bound]()
    for family in [asked.only] if asked.only else FAMILIES:
        with tempfile.TemporaryDirectory() as folder:
            write_events(Path(folder) / "data", asked.events, asked.keys)
            bounds += compare_and_measure(spark, Path(folder), family, asked.native, asked.rounds)
    spark.stop()
    return 0 if print_verdict(bounds) else 1


if __name__ == "__main__":
    sys.exit(main())
