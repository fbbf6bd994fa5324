"""Batches that both lanes feed: a query that only Spark evaluates goes by the frame lane, and no other does."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from expectations.check import Choice, check
from jobs.engine.events import file_types
from jobs.engine.events.expressions import NotExact, compile_expression
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.engine.warehouse.state_files import load_retained
from jobs.runs.lanes import AGGREGATED, FOLDED, lane_lines
from jobs.spark import frame_lane
from optimizer.planning.stream import plan_stream
from tests.jobs.engine.feed import test_late
from tests.jobs.engine.questions import Question
from tests.jobs.engine.questions import check as check_answers
from tests.jobs.engine.runs import answers_in, late_rows, run_in_process, run_on_spark
from tests.jobs.engine.shard_plans import CHEAP, DEAR, Imagined
from tests.whole.against_spark.test_against_spark import LATENESS, every_aggregate, some_batches, until
from tests.whole.faults.plan_runs import Changing
from tests.whole.faults.test_plan_changes import full_batch, question
from tests.worlds.streams import SECOND, odd_row
from tests.worlds.warehouse import STREAM, make_world, query

Leave = Callable[..., None]


@pytest.fixture
def leave_to_spark(monkeypatch: pytest.MonkeyPatch) -> Leave:
    """Call it with expressions that only Spark evaluates from then on."""

    def leave(*texts: str) -> None:
        def refuse(sql: str, columns: Any, zone: str) -> Any:
            if sql in texts:
                raise NotExact(sql)
            return compile_expression(sql, columns, zone)

        monkeypatch.setattr(file_types, "compile_expression", refuse)

    return leave


@pytest.mark.parametrize(("seed", "strategy", "shards", "fewer"), [(1, "shared", CHEAP, 0), (2, "cascade", DEAR, 2)])
def test_every_aggregate(
    spark: SparkSession,
    tmp_path: Path,
    leave_to_spark: Leave,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    strategy: str,
    shards: float,
    fewer: int,
) -> None:
    monkeypatch.setattr(frame_lane, "FEWER", fewer)
    batches, pick = some_batches(seed), random.Random(seed)
    asked = {id: each for id, each in every_aggregate(seed).items() if each.aggregate != "geometric_mean"}
    texts = sorted({text for each in asked.values() for text in (each.x, each.where) if text not in ("", "*")})
    leave_to_spark(*pick.sample(texts, len(texts) // 3))
    world = make_world(tmp_path, batches, [each.entry(id) for id, each in asked.items()], LATENESS)
    plan = plan_stream(world.catalog, STREAM, 1000.0, strategy, recent=Imagined(shards), technique="auto")
    storage, manifest, report = run_on_spark(spark, world, plan, "auto")
    assert report.lane == "file and frame"
    assert {row["lane"] for row in report.queries.values()} == {"file", "frame"}
    assert report.queries.keys() == asked.keys()
    assert report.events == sum(map(len, batches))
    check_answers(
        asked, [row for batch in batches for row in batch], until(batches), answers_in(world, storage, manifest, plan)
    )


@pytest.mark.parametrize("fewer", [0, 1000])
def test_late_events_are_counted_once(
    spark: SparkSession, tmp_path: Path, leave_to_spark: Leave, monkeypatch: pytest.MonkeyPatch, fewer: int
) -> None:
    monkeypatch.setattr(frame_lane, "FEWER", fewer)
    batches = test_late.straggling_batches(7)
    batches[-1][::3] = [{**row, "ts": None} for row in batches[-1][::3]]
    world = make_world(tmp_path, batches, test_late.QUERIES, test_late.LATENESS)
    plan = world.plan("shared")
    storage, manifests = run_in_process(world, plan)
    leave_to_spark(test_late.PASSES)
    ours, manifest, report = run_on_spark(spark, world, plan, "auto")
    assert report.queries["few"] == {"lane": "frame", "reason": test_late.PASSES}
    assert report.queries["total"] == {"lane": "file", "reason": ""}
    assert lane_lines(report.queries) == [f"frame lane: few, since only Spark evaluates {test_late.PASSES}"]
    assert [line.startswith(FOLDED if fewer else AGGREGATED) for line in report.notes] == [True]
    assert answers_in(world, ours, manifest, plan) == answers_in(world, storage, manifests[-1], plan)
    names = ["ts", "windows_missed", "batch", "k", "n"]
    expected = test_late.by_content(late_rows(storage, manifests[-1]), names)
    assert expected
    assert test_late.by_content(late_rows(ours, manifest), names) == expected
    for name in ("events", "late", "windows_missed", "without_time"):
        assert getattr(report, name) == sum(found.counts[name] for found in manifests)


MIXED = [
    query("top", "max(i)", 10 * SECOND, 5 * SECOND, group_by=["k"]),
    query("mean", "avg(n)", 20 * SECOND, 10 * SECOND, group_by=["k"]),
    query("waves", "sum(i)", 10 * SECOND, 5 * SECOND, group_by=["k"], where="sin(i) > 0"),
    query("kinds", "count(DISTINCT s, b)", 10 * SECOND, group_by=["k"]),
    query("middle", "percentile(i, 0.5, 2)", 10 * SECOND, where="cos(i) > 0"),
]


def test_unshared_queries_leave_the_others_where_they_are(spark: SparkSession, tmp_path: Path) -> None:
    batches = [[odd_row((n + 30 * number) * SECOND, 40 * number + n) for n in range(30)] for number in range(3)]
    batches[2] += [odd_row(n * SECOND, 500 + n) for n in range(20)]
    expected = None
    for number, entries in enumerate((MIXED, [MIXED[0], MIXED[1], MIXED[3], MIXED[4]])):
        world = make_world(tmp_path / str(number), batches, entries, LATENESS)
        plan = world.plan("shared")
        _, manifest, report = run_on_spark(spark, world, plan, "auto")
        assert report.lane == ("file" if number else "file and frame")
        lanes = {id: row["lane"] for id, row in report.queries.items()}
        assert {id for id, lane in lanes.items() if lane == "file"} == {"top", "mean"}
        assert {id for id, lane in lanes.items() if lane == "unshared"} == {"kinds", "middle"}
        assert report.events == sum(map(len, batches))
        assert 0 < report.late == sum(file.rows for file in manifest.late) <= 20
        expected = expected or report.late
        warehouse = str(tmp_path / str(number) / "warehouse_auto")
        outcome = check(spark, world.catalog, STREAM, warehouse, Choice(everything=True))
        assert outcome.audit.passed, [each.examples for each in outcome.audit.checks]
    assert report.late == expected


def test_a_plan_changes_and_a_lane_is_forced(spark: SparkSession, tmp_path: Path, leave_to_spark: Leave) -> None:
    leave_to_spark("n")
    world = Changing(tmp_path)
    world.arrive(full_batch(0))
    asked: dict[str, Question] = {"q": question("sum", "n", 20, 2), "r": question("max", "i", 20, 2)}
    assert world.run(asked, LATENESS, "shared", spark).lane == "file and frame"
    for lane in ("frame", "auto"):  # the retained slices are the same in any lane
        world.arrive(full_batch(len(world.batches)))
        assert not [note for note in world.run(asked, LATENESS, "shared", spark, lane).notes if "takes over" in note]
    again = world.run(asked, LATENESS, "shared", spark)  # nothing has come: the lanes are as they were
    assert (again.events, again.notes) == (0, [])
    asked["s"] = question("max", "n", 40, 20)
    world.arrive(full_batch(3))
    report = world.run(asked, LATENESS, "cascade", spark)
    assert any("takes over" in note for note in report.notes)
    storage = stream_storage(world.warehouse, STREAM)
    frame = load_retained(storage, newest(storage).standing).frame
    assert [label.partition("@")[0] for label in frame] == ["q", "s"]
    leave_to_spark()  # as after an upgrade: the file lane evaluates all of it now
    world.arrive(full_batch(4))
    assert world.run(asked, LATENESS, "cascade", spark).lane == "file"
    world.check()
