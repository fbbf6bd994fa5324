"""Spark as its users start it, in a process of its own with its own settings: a scan, and its own sliding windows.

python -m benchmarks.plain_spark scan|native|QUERY FOLDER      (FOLDER holds data/ and catalog/)
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.engine_world import cpu, measured
from jobs.spark.session import prepare_environment
from optimizer.catalog.read.load import load_catalog

NATIVE = 5  # queries of the hundred that Spark runs itself


def plain_spark(what: str, root: Path) -> float:
    """CPU seconds, from a process that has nothing of ours in its session."""
    command = [sys.executable, "-m", "benchmarks.plain_spark", what, str(root)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return float(done.stdout)


def scan(spark: SparkSession, root: Path) -> float:
    """The yardstick: one column of the files."""
    return measured(lambda: spark.read.parquet(str(root / "data")).agg({"value": "max"}).collect())[0]


def native(spark: SparkSession, root: Path) -> float:
    """Some queries as Spark evaluates them, evenly picked by how often they copy an event; all rows are made."""
    catalog = load_catalog(root / "catalog")
    spark.read.parquet(str(root / "data")).createOrReplaceTempView("events")
    ranked = sorted(catalog.queries, key=lambda query: query.window.range / query.window.slide)
    step = max(1, len(ranked) // NATIVE)
    texts = [catalog.statements[query.statement].sql for query in ranked[step // 2 :: step][:NATIVE]]
    return cpu(lambda: [spark.sql(text).write.format("noop").mode("overwrite").save() for text in texts])


def answer(spark: SparkSession, root: Path, query: str) -> float:
    """One query's rows, written to FOLDER/native: the key, the start of the window, the answer."""
    catalog = load_catalog(root / "catalog")
    spark.read.parquet(str(root / "data")).createOrReplaceTempView("events")
    rows = spark.sql(catalog.statements[catalog.query(query).statement].sql)
    rows = rows.select("machine", "window.start", rows.columns[-1]).toDF("machine", "start", "theirs")
    return cpu(lambda: rows.write.mode("overwrite").parquet(str(root / "native")))


def main(what: str, root: str) -> None:
    """Print the CPU seconds."""
    prepare_environment()
    spark = SparkSession.builder.master("local[2]").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    known = {"scan": scan, "native": native}
    print(known[what](spark, Path(root)) if what in known else answer(spark, Path(root), what))


if __name__ == "__main__":
    main(*sys.argv[1:])
