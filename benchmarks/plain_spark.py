"""Spark as its users start it, in a process of its own with its own settings: a scan, and its own sliding windows.

python -m benchmarks.plain_spark scan|native|streamed FOLDER [QUERY]      (FOLDER holds data/ and catalog/)

With a query, its answers are written to FOLDER/native or FOLDER/streamed: the key, the start of the window, the answer.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from benchmarks.engine_world import cpu, measured
from jobs.spark.session import prepare_environment
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog

NATIVE, STREAMED = 5, 2  # queries of the hundred that Spark runs itself


def plain_spark(what: str, root: Path, query: str = "") -> float:
    """CPU seconds, from a process that has nothing of ours in its session."""
    command = [sys.executable, "-m", "benchmarks.plain_spark", what, str(root), query]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return float(done.stdout)


def scan(spark: SparkSession, root: Path) -> float:
    """The yardstick: one column of the files."""
    return measured(lambda: spark.read.parquet(str(root / "data")).agg({"value": "max"}).collect())[0]


def native(spark: SparkSession, root: Path, query: str) -> float:
    """Some queries as Spark evaluates them, or one, whose rows are written; all rows are made."""
    catalog = load_catalog(root / "catalog")
    spark.read.parquet(str(root / "data")).createOrReplaceTempView("events")
    if query:
        rows = answers_of(spark, catalog, query)
        return cpu(lambda: rows.write.mode("overwrite").parquet(str(root / "native")))
    texts = [catalog.statements[name].sql for name in some_queries(catalog, NATIVE)]
    return cpu(lambda: [spark.sql(text).write.format("noop").mode("overwrite").save() for text in texts])


def streamed(spark: SparkSession, root: Path, query: str) -> float:
    """Some queries by Structured Streaming, or one, whose rows are written: a stream each, which reads all files."""
    catalog = load_catalog(root / "catalog")
    schema = spark.read.parquet(str(root / "data")).schema
    events = spark.readStream.schema(schema).parquet(str(root / "data"))
    events.withWatermark("ts", "0 seconds").createOrReplaceTempView("events")
    spark.conf.set("spark.sql.shuffle.partitions", "2")  # 200 stores of state on two cores would be no fair peer

    def run(rows: DataFrame, **sink: str) -> None:
        with tempfile.TemporaryDirectory() as state:
            writer = rows.writeStream.outputMode("append").option("checkpointLocation", state)
            writer.trigger(availableNow=True).start(**sink).awaitTermination()

    if query:
        rows = answers_of(spark, catalog, query)
        return cpu(lambda: run(rows, format="parquet", path=str(root / "streamed")))
    frames = [spark.sql(catalog.statements[name].sql) for name in some_queries(catalog, STREAMED)]
    return cpu(lambda: [run(frame, format="noop") for frame in frames])


def answers_of(spark: SparkSession, catalog: Catalog, query: str) -> DataFrame:
    """One query's rows: the key, the start of the window, the answer."""
    rows = spark.sql(catalog.statements[catalog.query(query).statement].sql)
    return rows.select("machine", "window.start", rows.columns[-1]).toDF("machine", "start", "theirs")


def some_queries(catalog: Catalog, count: int) -> list[str]:
    """Statements, evenly picked by how often they copy an event."""
    ranked = sorted(catalog.queries, key=lambda query: query.window.range / query.window.slide)
    step = max(1, len(ranked) // count)
    return [query.statement for query in ranked[step // 2 :: step][:count]]


def main(what: str, root: str, query: str = "") -> None:
    """Print the CPU seconds."""
    prepare_environment()
    spark = SparkSession.builder.master("local[2]").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    ways = {"native": native, "streamed": streamed}
    print(ways[what](spark, Path(root), query) if what in ways else scan(spark, Path(root)))


if __name__ == "__main__":
    main(*sys.argv[1:])
