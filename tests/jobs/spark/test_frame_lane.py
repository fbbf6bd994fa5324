"""The frame lane where Spark aggregates the events first: all rows, late events, and when it is not done."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from jobs.engine.feed.spark_partials import pass_edges
from jobs.kernels.slices.edges import slice_starts
from jobs.runs.lanes import AGGREGATED, AGGREGATED_IN_ONE, FOLDED
from jobs.spark import frame_lane
from optimizer.algebra.aggregates import AGGREGATES
from optimizer.rewrite.partials import steps_since_edge
from optimizer.windows.edges import common_step, period
from optimizer.windows.window import Window
from tests.jobs.engine import oracle_expressions as expressions
from tests.jobs.engine.feed import test_late
from tests.jobs.engine.questions import SPARK_ONLY, Question, check
from tests.jobs.engine.runs import answers_in, late_rows, run_in_process, run_on_spark
from tests.jobs.engine.shard_plans import forced
from tests.whole.against_spark.test_against_spark import LATENESS, WINDOWS, some_batches, until
from tests.worlds.streams import SECOND, odd_row
from tests.worlds.warehouse import make_world, query

BY_ANOTHER = {"argmin", "argmax"}
EVENT_BY_EVENT = ("central_moments", "co_moments", "value_counts")
GROUPINGS: list[tuple[str, ...]] = [(), ("k",), ("b", "i")]


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few events are aggregated, too."""
    monkeypatch.setattr(frame_lane, "FEWER", 0)


def questions(seed: int, windows: list[Window]) -> dict[str, Question]:
    """A query for every aggregate that Spark makes partials of, over values of a fixed width."""
    pick = random.Random(seed)
    asked = {}
    for name, aggregate in AGGREGATES.items():
        apart = aggregate.shared and aggregate.needs[0].component in EVENT_BY_EVENT
        if aggregate.shared and not apart and name not in SPARK_ONLY:
            of = [x for x in expressions.AGGREGATED[name] if x not in expressions.OTHERS or x in ("d", "ts")]
            where = pick.choice(["", *expressions.PREDICATES])
            by = pick.choice(["i", "d", "x", "ts"]) if name in BY_ANOTHER else ""
            asked[f"q_{name}"] = Question(
                name, pick.choice(of), by, where, pick.choice(GROUPINGS), pick.choice(windows)
            )
    return asked


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(
    ("seed", "strategy", "shards"),
    [(5, "weave_share", False), (6, "cascade", True)],
)
def test_all_rows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, strategy: str, shards: bool
) -> None:
    """Three groupings, by a pass each and by one pass for all."""
    monkeypatch.setattr(frame_lane, "is_one_pass_cheaper", lambda *_: shards)
    batches = some_batches(seed)
    asked = questions(seed, WINDOWS if shards else [window for window in WINDOWS if window.offset != 1])
    world = make_world(tmp_path, batches, [question.entry(id) for id, question in asked.items()], LATENESS)
    plan = forced(world.plan(strategy), shards)
    storage, manifest, report = run_on_spark(spark, world, plan, "frame")
    assert (AGGREGATED_IN_ONE if shards else AGGREGATED) in report.notes
    events = [row for batch in batches for row in batch]
    check(asked, events, until(batches), answers_in(world, storage, manifest, plan))


@pytest.mark.usefixtures("always")
def test_late_events(spark: SparkSession, tmp_path: Path) -> None:
    batches = test_late.straggling_batches(7)
    batches[-1][::3] = [{**row, "ts": None} for row in batches[-1][::3]]
    world = make_world(tmp_path, batches, test_late.QUERIES, test_late.LATENESS)
    plan = world.plan("shared")
    storage, manifests = run_in_process(world, plan)
    ours, manifest, report = run_on_spark(spark, world, plan, "frame")
    assert any(note.startswith(AGGREGATED) for note in report.notes)
    assert answers_in(world, ours, manifest, plan) == answers_in(world, storage, manifests[-1], plan)
    names = ["ts", "windows_missed", "batch", "k", "n"]
    expected = test_late.by_content(late_rows(storage, manifests[-1]), names)
    assert expected
    assert test_late.by_content(late_rows(ours, manifest), names) == expected
    for name in ("events", "late", "windows_missed", "without_time"):
        assert getattr(report, name) == sum(found.counts[name] for found in manifests)


def test_what_is_folded_event_by_event(spark: SparkSession, tmp_path: Path) -> None:
    rows = [odd_row(number * SECOND // 10, number % 3) for number in range(60)]
    dense, sparse = query("dense", "sum(i)", 2 * SECOND), query("sparse", "sum(i)", SECOND // 10)
    carried = query("carried", "last(s)", 2 * SECOND)
    for number, (asked, note) in enumerate([(dense, AGGREGATED), (sparse, FOLDED), (carried, FOLDED)]):
        world = make_world(tmp_path / str(number), [rows], [asked], 0)
        report = run_on_spark(spark, world, world.plan("shared"), "frame")[2]
        assert [line.startswith(note) for line in report.notes] == [True]


def test_slots_never_cross_an_edge() -> None:
    edges = ((4, 1), (6, 0), (6, 2))
    assert pass_edges(edges) == edges
    (step, shift), steps = common_step(edges), steps_since_edge(edges)
    for time in range(-30, 30):
        place = (time - shift) % period(edges)
        start = time - place % step - steps[place // step] * step
        assert [start] == slice_starts(edges, np.array([time])).tolist()
    assert pass_edges(((1_000_003, 0), (999_983, 0))) == ((1, 0),)
