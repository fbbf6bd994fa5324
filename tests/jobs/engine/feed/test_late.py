"""Late events: the engine emits what Spark's append mode emits, batch for batch, and the late table has the rest."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

from optimizer.windows.window import Window
from tests.jobs.engine.runs import answers_in, late_rows, run_in_process, run_on_spark
from tests.oracle import naive
from tests.worlds.streams import SECOND, Row, odd_row
from tests.worlds.warehouse import World, add_batch, make_world, query

LATENESS = 3 * SECOND
WINDOW = Window(range=10 * SECOND, slide=4 * SECOND, offset=SECOND)
PASSES = "n < 60"
QUERIES = [
    query("total", "sum(n)", WINDOW.range, WINDOW.slide, offset=WINDOW.offset, group_by=["k"]),
    query("few", "count(*)", 6 * SECOND, 3 * SECOND, where=PASSES),
    query("top", "max(n)", WINDOW.range, WINDOW.slide, offset=WINDOW.offset, group_by=["k"]),
]


def straggling_batches(seed: int, count: int = 5) -> list[list[Row]]:
    """Each batch covers later times than the one before, with stragglers from long ago."""
    pick = random.Random(seed)

    def event(batch: int) -> Row:
        behind = pick.choice([0, 0, 0, 5, 20, 60])
        # Spark counts its watermark in milliseconds, from 1970 on
        ts = (100 + batch * 11 - behind) * SECOND + pick.randrange(11_000) * 1000
        return {**odd_row(ts, pick.randrange(1 << 20)), "n": pick.randrange(100)}

    return [[event(batch) for _ in range(25)] for batch in range(count)]


def by_append_mode(spark: SparkSession, world: World) -> naive.Answers:
    """What Spark's own stream emits for the query `total`, one file a batch."""
    schema = "ts timestamp, k string, n bigint"
    events = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(world.folder / "data"))
    lengths = [f"{ticks} microseconds" for ticks in (WINDOW.range, WINDOW.slide, WINDOW.offset)]
    sums = events.withWatermark("ts", f"{LATENESS} microseconds").groupBy("k", F.window("ts", *lengths)).agg(F.sum("n"))
    rows: list[Any] = []
    stream = (
        sums.selectExpr("k", "unix_micros(window.start) AS start", "`sum(n)` AS total")
        .writeStream.outputMode("append")
        .option("checkpointLocation", str(world.folder / "append_mode"))
        .trigger(availableNow=True)
        .foreachBatch(lambda frame, number: rows.extend(frame.collect()))
        .start()
    )
    stream.awaitTermination()
    return {((row.k,), row.start): row.total for row in rows}


def pairs_missed(world: World, batches: list[list[Row]], watermarks: list[int]) -> int:
    """Event-window pairs of all queries whose window was out when the event's batch came."""
    missed = 0
    for id in ("total", "few", "top"):
        asked = world.catalog.query(id)
        for batch, emitted in zip(batches, watermarks, strict=True):
            for event in batch:
                if not asked.where or event["n"] < 60:
                    starts = naive.starts(event["ts"], asked.window)
                    missed += sum(start + asked.window.range <= emitted for start in starts)
    return missed


def lagging(batches: list[list[Row]]) -> list[int]:
    """By batch, up to when windows are out before it: the watermark of the batches before the one before."""
    out, seen = [-(1 << 62)] * 2, -(1 << 62)
    for batch in batches[:-2]:
        seen = max([seen, *(event["ts"] for event in batch)])
        out.append(seen - LATENESS)
    return out


@pytest.mark.parametrize("seed", [1, 2])
def test_one_run_of_many_batches(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    batches = straggling_batches(seed)
    world = make_world(tmp_path, batches, QUERIES, LATENESS)
    plan = world.plan("shared")
    expected = by_append_mode(spark, world)
    storage, manifests = run_in_process(world, plan)
    assert answers_in(world, storage, manifests[-1], plan)["total"] == expected
    late = late_rows(storage, manifests[-1])
    assert late
    assert sum(row["windows_missed"] for row in late) == pairs_missed(world, batches, lagging(batches))
    assert sum(row["windows_missed"] for row in late) == sum(m.counts["windows_missed"] for m in manifests)
    storage, manifest, report = run_on_spark(spark, world, plan, "frame" if seed == 1 else "file")
    assert answers_in(world, storage, manifest, plan)["total"] == expected
    names = ["ts", "windows_missed", "batch", "k", "n"]
    assert by_content(late_rows(storage, manifest), names) == by_content(late, names)
    assert report.late == len(late)


def by_content(rows: list[Row], names: list[str]) -> list[str]:
    return sorted(repr([row[name] for name in names]) for row in rows)


@pytest.mark.parametrize("last", [False, True])
def test_a_run_for_every_batch(tmp_path: Path, last: bool) -> None:
    batches = straggling_batches(3)
    world = make_world(tmp_path, batches, QUERIES, LATENESS)
    plan = world.plan("cascade")
    storage, manifests = run_in_process(world, plan, close_each=True, last=last)
    assert len(manifests) == (len(batches) if last else 2 * len(batches))
    found = answers_in(world, storage, manifests[-1], plan)
    late = 0
    for id, aggregate, where in [("total", "sum", None), ("top", "max", None), ("few", "count", lambda e: e["n"] < 60)]:
        asked = world.catalog.query(id)
        emitted, missed = naive.answers_in_batches(
            batches, aggregate, asked.window, LATENESS, asked.group_by, "*" if id == "few" else "n", where=where
        )
        assert found[id] == {place: value for answers in emitted for place, value in answers.items()}
        late += sum(windows for _, windows in missed)
    assert sum(row["windows_missed"] for row in late_rows(storage, manifests[-1])) == late


@pytest.mark.parametrize("lane", ["file", "frame"])
def test_a_run_on_spark_for_every_batch(spark: SparkSession, tmp_path: Path, lane: str) -> None:
    """Each takes what has arrived at once, and closes what its own events let end."""
    batches = straggling_batches(5)[:4]
    whole = make_world(tmp_path / "whole", batches, QUERIES, LATENESS)
    plan = whole.plan("shared")
    expected, manifests = run_in_process(whole, plan, close_each=True)
    world = make_world(tmp_path / "arriving", [], QUERIES, LATENESS)
    plan = world.plan("shared")
    for number, batch in enumerate(batches):
        add_batch(world.folder, number, batch)
        storage, manifest, report = run_on_spark(spark, world, plan, lane, files_per_batch=0)
        assert (report.batches, manifest.sequence) == (1, number)
    assert answers_in(world, storage, manifest, plan) == answers_in(whole, expected, manifests[-1], plan)
    names = ["ts", "windows_missed", "batch", "k", "n"]
    assert by_content(late_rows(storage, manifest), names) == by_content(late_rows(expected, manifests[-1]), names)


def test_an_event_without_a_time_is_counted_and_never_late(tmp_path: Path) -> None:
    batches = straggling_batches(4)
    batches[-1][::3] = [{**row, "ts": None} for row in batches[-1][::3]]
    world = make_world(tmp_path, batches, QUERIES, LATENESS)
    storage, manifests = run_in_process(world, world.plan("shared"))
    assert sum(manifest.counts["without_time"] for manifest in manifests) == 9
    assert all(row["ts"] is not None for row in late_rows(storage, manifests[-1]))
