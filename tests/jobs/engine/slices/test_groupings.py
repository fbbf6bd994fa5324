"""Groupings that share a feed: a coarser one rolled up from the partials of a finer one, with and without shards."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from jobs.engine.slices.roll_up import feeds
from jobs.measure.recent_events import recent_events
from optimizer.algebra.aggregates import AGGREGATES
from optimizer.plan.definition import EVENTS, Plan
from optimizer.planning.stream import plan_stream
from optimizer.windows.window import Window
from tests.jobs.engine.questions import Question, check, questions
from tests.jobs.engine.runs import answers_in, late_rows, run_in_process
from tests.jobs.engine.shard_plans import CHEAP, DEAR, Imagined
from tests.whole.against_spark.test_against_spark import (
    FRAME_ONLY,
    LATENESS,
    check_lanes,
    every_aggregate,
    some_batches,
)
from tests.worlds.streams import SECOND, Arrival, arrivals, odd_row
from tests.worlds.warehouse import STREAM, World, make_world, query

QUICKLY = settings(deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate])
WINDOWS = [Window(2 * SECOND, 2 * SECOND), Window(6 * SECOND, 2 * SECOND), Window(12 * SECOND, 6 * SECOND)]
NESTED: list[tuple[str, ...]] = [(), ("k",), ("i", "k"), ("b", "i", "k"), ("b",)]


def rolled(plan: Plan) -> list[str]:
    """The trees that another grouping feeds."""
    return [tree.id for tree in plan.trees if tree.feed != EVENTS and plan.tree(tree.feed).group_by != tree.group_by]


def imagined(world: World, strategy: str = "shared", shards: float = DEAR) -> Plan:
    return plan_stream(world.catalog, STREAM, 1000.0, strategy, recent=Imagined(shards), technique="auto")


@settings(QUICKLY, max_examples=20)
@given(
    asked=st.lists(st.tuples(questions(), st.sampled_from(WINDOWS), st.sampled_from(NESTED)), min_size=2, max_size=8),
    arrival=arrivals(),
    strategy=st.sampled_from(["shared", "weave_share", "cascade"]),
    shards=st.sampled_from([CHEAP, DEAR]),
    buckets=st.sampled_from([1, 3]),
)
def test_random_catalogs(
    asked: list[tuple[Question, Window, tuple[str, ...]]], arrival: Arrival, strategy: str, shards: float, buckets: int
) -> None:
    named = {f"q{n}": replace(q, window=window, group_by=keys) for n, (q, window, keys) in enumerate(asked)}
    folder = Path(tempfile.mkdtemp())
    try:
        entries = [question.entry(id) for id, question in named.items()]
        world = make_world(folder, arrival.batches, entries, arrival.lateness)
        plan = imagined(world, strategy, shards)
        assert Plan.from_json(plan.to_json()) == plan
        storage, manifests = run_in_process(world, plan, buckets)
        check(named, arrival.events, arrival.until, answers_in(world, storage, manifests[-1], plan))
    finally:
        shutil.rmtree(folder)


def test_a_chain_of_groupings_reads_the_events_once(tmp_path: Path) -> None:
    window = {"range": 4 * SECOND, "slide": 2 * SECOND}
    entries = [query(f"q{len(keys)}", "sum(n)", **window, group_by=list(keys)) for keys in NESTED[1:4]]
    entries.append(query("longer", "sum(n)", 30 * SECOND, 10 * SECOND))  # fed by a tree that keeps less
    rows = [odd_row(n * SECOND // 7, n) for n in range(400)]
    late = [odd_row(20 * SECOND, 5)]
    world = make_world(tmp_path, [rows[:300], rows[300:] + late], entries, 0)
    plan = imagined(world)
    assert len(rolled(plan)) == 3
    program = world.program(plan)
    assert [each.finer is None for each in feeds(program)].count(True) == 1
    storage, manifests = run_in_process(world, plan, close_each=True)
    apart = plan_stream(world.catalog, STREAM, 1000.0, "shared", technique="auto")
    assert not rolled(apart)
    other, others = run_in_process(world, apart, close_each=True, warehouse="apart")
    assert answers_in(world, storage, manifests[-1], plan) == answers_in(world, other, others[-1], apart)
    assert late_rows(storage, manifests[-1]) == late_rows(other, others[-1])
    counted = [sum(sum(m.counts["operations"].values()) for m in found) for found in (manifests, others)]
    assert counted[0] < counted[1]


def test_what_is_lent_never_turns_partials_into_shards(tmp_path: Path) -> None:
    window, longer = Window(2 * SECOND, 2 * SECOND), Window(12 * SECOND, 6 * SECOND)
    asked = {
        "fine": Question("bool_and", "b", "", "n BETWEEN 10 AND 60", ("i", "k"), window),
        "coarse": Question("bool_and", "b", "", "i NOT IN (0, 1)", (), window),
        "also_fine": Question("stddev_pop", "n + i", "", "k IN ('a', 'c')", ("i", "k"), longer),
    }
    rows = [odd_row(number * SECOND // 7, number) for number in range(200)]
    entries = [question.entry(id) for id, question in asked.items()]
    world = make_world(tmp_path, [rows], entries, SECOND)
    plan = imagined(world, "shared", CHEAP)
    storage, manifests = run_in_process(world, plan, 1)
    latest = max(row["ts"] for row in rows) - SECOND
    check(asked, rows, latest, answers_in(world, storage, manifests[-1], plan))


def test_the_estimate_decides(tmp_path: Path) -> None:
    entries = [query("fine", "sum(n)", 60 * SECOND, group_by=["i", "k"]), query("coarse", "sum(n)", 60 * SECOND)]
    rows = [odd_row(n * SECOND // 10, n) for n in range(1200)]
    few = make_world(tmp_path / "few", [rows], entries, 0)
    plan = plan_stream(few.catalog, STREAM, 10.0, "shared", recent=recent_events(few.catalog, STREAM), technique="auto")
    (coarse,) = rolled(plan)
    assert plan.tree(coarse).group_by == ()
    assert "rolled up from t2 by i, k (20 groups a slice)" in plan.explain()
    assert plan.cost == pytest.approx(plan.recomputed_cost(), rel=1e-12)
    short = [
        {**entry, "range": "100 milliseconds", "slide": "100 milliseconds"} for entry in entries
    ]  # as many groups as events
    many = make_world(tmp_path / "many", [rows], short, 0)
    assert not rolled(
        plan_stream(many.catalog, STREAM, 10.0, "shared", recent=recent_events(many.catalog, STREAM), technique="auto")
    )


def test_edges_that_are_not_there_cannot_be_rolled_up(tmp_path: Path) -> None:
    entries = [query("fine", "sum(n)", 4 * SECOND, group_by=["k"]), query("coarse", "sum(n)", 6 * SECOND)]
    assert not rolled(imagined(make_world(tmp_path, [[odd_row(0, 1)]], entries, 0)))


def test_lanes(spark: SparkSession, tmp_path: Path) -> None:
    batches = some_batches(33)
    drawn = every_aggregate(33, set(AGGREGATES) - FRAME_ONLY)
    asked = {
        f"{id}_{len(keys)}": replace(question, window=WINDOWS[n % 3], group_by=keys)
        for n, (id, question) in enumerate(drawn.items())
        for keys in (("i", "k"), NESTED[n % 2])
    }
    world = make_world(tmp_path, batches, [question.entry(id) for id, question in asked.items()], LATENESS)
    plans = {"file": imagined(world, shards=CHEAP), "frame": imagined(world, shards=DEAR)}
    assert all(map(rolled, plans.values()))
    check_lanes(spark, world, plans, batches, asked)
