"""The oracle's batches and late events against Spark's append mode, a run of the stream for every batch."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

from optimizer.windows.window import Window
from tests.oracle import naive

SECOND = 1_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WINDOW = Window(range=10 * SECOND, slide=4 * SECOND, offset=SECOND)
LATENESS = 3 * SECOND


def straggling_batches(seed: int) -> list[list[dict[str, Any]]]:
    """Each batch covers later times than the one before, with stragglers from long ago."""
    pick = random.Random(seed)

    def event(batch: int) -> dict[str, Any]:
        behind = pick.choice([0, 0, 0, 5, 20])
        # Spark counts its watermark in milliseconds, from 1970 on
        ts = (100 + batch * 15 - behind) * SECOND + pick.randrange(15_000) * 1000
        return {"ts": ts, "k": pick.choice(["a", "b", None]), "n": pick.randrange(100)}

    return [[event(batch) for _ in range(30)] for batch in range(1, 4)]


def run_of_the_stream(spark: SparkSession, folder: Path) -> naive.Answers:
    """What Spark emits for the files that have arrived since its last run."""
    events = spark.readStream.schema("ts timestamp, k string, n bigint").parquet(str(folder / "events"))
    lengths = [f"{ticks} microseconds" for ticks in (WINDOW.range, WINDOW.slide, WINDOW.offset)]
    sums = events.withWatermark("ts", f"{LATENESS} microseconds").groupBy("k", F.window("ts", *lengths)).agg(F.sum("n"))
    rows: list[Any] = []
    stream = (
        sums.selectExpr("k", "unix_micros(window.start) AS start", "`sum(n)` AS total")
        .writeStream.outputMode("append")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .foreachBatch(lambda frame, number: rows.extend(frame.collect()))
        .start()
    )
    stream.awaitTermination()
    return {((row.k,), row.start): row.total for row in rows}


def test_append_mode(spark: SparkSession, tmp_path: Path) -> None:
    batches = straggling_batches(seed=1)
    emitted, late = naive.answers_in_batches(batches, "sum", WINDOW, LATENESS, ["k"], "n")
    for batch, expected in zip(batches, emitted, strict=True):
        rows = [{**event, "ts": EPOCH + timedelta(microseconds=event["ts"])} for event in batch]
        frame = spark.createDataFrame(rows, "ts timestamp, k string, n bigint").coalesce(1)
        frame.write.mode("append").parquet(str(tmp_path / "events"))
        assert run_of_the_stream(spark, tmp_path) == expected
    assert all(emitted)
    assert {missed for _, missed in late} == {1, 2, 3}
