"""Windows in rows: numbered in event time, ties by arrival, settled by the watermark, with state across batches."""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from jobs.results import read_results, results_table
from optimizer.algebra.techniques import CARDS
from optimizer.windows.window import Window
from tests.jobs.engine.oracle_expressions import AGGREGATED, PREDICATES
from tests.jobs.engine.questions import Question, second_argument
from tests.jobs.engine.row_questions import RowQuestion, check_rows, in_order, questions_in_rows
from tests.jobs.engine.runs import answers_in, late_rows, run_in_process, run_on_spark
from tests.oracle.naive_aggregates import same
from tests.whole.against_spark.test_against_spark import LATENESS, some_batches, until
from tests.worlds.streams import SECOND, Arrival, arrivals, odd_row
from tests.worlds.warehouse import STREAM, make_world, query

QUICKLY = settings(deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate])
WINDOWS = [Window(12, 4, rows=True), Window(7, 3, 1, rows=True), Window(5, 5, rows=True), Window(30, 10, rows=True)]


def evaluate_and_check(asked: list[RowQuestion], arrival: Arrival, strategy: str, technique: str, buckets: int) -> None:
    named = {f"q{number}": question for number, question in enumerate(asked)}
    folder = Path(tempfile.mkdtemp())
    try:
        world = make_world(folder, arrival.batches, [q.entry(id) for id, q in named.items()], arrival.lateness)
        plan = world.plan(strategy, technique)
        storage, manifests = run_in_process(world, plan, buckets)
        settled = in_order(arrival.batches, arrival.until) if arrival.until is not None else []
        check_rows(named, settled, answers_in(world, storage, manifests[-1], plan))
        assert not manifests[-1].late
    finally:
        shutil.rmtree(folder)


@settings(QUICKLY, max_examples=40)
@given(
    asked=st.lists(questions_in_rows(), min_size=1, max_size=5),
    arrival=arrivals(),
    strategy=st.sampled_from(["shared", "weave_share", "tri_weave", "cascade"]),
    buckets=st.sampled_from([1, 3]),
)
def test_random_catalogs(asked: list[RowQuestion], arrival: Arrival, strategy: str, buckets: int) -> None:
    evaluate_and_check(asked, arrival, strategy, "auto", buckets)


@pytest.mark.parametrize("technique", CARDS)
@settings(QUICKLY, max_examples=3)
@given(data=st.data(), arrival=arrivals())
def test_techniques(technique: str, data: st.DataObject, arrival: Arrival) -> None:
    asked = data.draw(st.lists(questions_in_rows(technique), min_size=1, max_size=3))
    evaluate_and_check(asked, arrival, "shared", technique, 1)


def test_many_batches_keep_no_more_than_the_longest_range(tmp_path: Path) -> None:
    batches = [[odd_row(SECOND * (10 * b + n), b * 10 + n) for n in range(10)] for b in range(40)]
    asked = {"q": RowQuestion("count", "*", "", "", ("k",), Window(12, 4, rows=True))}
    world = make_world(tmp_path, batches, [asked["q"].entry("q")], 0)
    plan = world.plan()
    storage, manifests = run_in_process(world, plan, close_each=True)
    check_rows(asked, in_order(batches, 400 * SECOND), answers_in(world, storage, manifests[-1], plan))
    assert sum(file.rows for file in manifests[-1].state) < 120  # a base, and deltas that do not outweigh it


def test_a_late_event_has_lost_its_number(tmp_path: Path) -> None:
    rows = [odd_row(n * SECOND, n) for n in range(20)]
    late = odd_row(3 * SECOND, 99)
    batches = [rows[:10], [*rows[10:], late]]
    asked = {"q": RowQuestion("sum", "n", "", "", (), Window(5, 2, rows=True))}
    world = make_world(tmp_path, batches, [asked["q"].entry("q")], 0)
    plan = world.plan()
    storage, manifests = run_in_process(world, plan, close_each=True)
    check_rows(asked, in_order([rows], 20 * SECOND), answers_in(world, storage, manifests[-1], plan))
    (found,) = late_rows(storage, manifests[-1])
    assert (found["n"], found["windows_missed"]) == (late["n"], 3)  # a row is in two windows of (5, 2), or in three


def spark_rows(seed: int) -> dict[str, RowQuestion]:
    """One query for many aggregates, over changing arguments, windows and predicates."""
    pick = random.Random(seed)
    asked = {}
    for name in ("count", "sum", "avg", "min", "max", "first", "last", "argmax", "stddev_samp", "range"):
        x = pick.choice(list(AGGREGATED[name]))
        y = second_argument(pick, name)
        where, keys = pick.choice(["", "", *PREDICATES]), pick.choice([(), ("k",), ("k", "i")])
        asked[f"q_{name}"] = RowQuestion(name, x, y, where, keys, pick.choice(WINDOWS))
    return asked


@pytest.mark.parametrize(("lane", "seed"), [("file", 21), ("frame", 22)])
def test_lanes(spark: SparkSession, tmp_path: Path, lane: str, seed: int) -> None:
    batches = some_batches(seed)
    asked = spark_rows(seed)
    beside = query("beside", "sum(x)", 10 * SECOND, group_by=["k"])
    world = make_world(tmp_path, batches, [*(q.entry(id) for id, q in asked.items()), beside], LATENESS)
    plan = world.plan("cascade")
    storage, manifest, report = run_on_spark(spark, world, plan, lane)
    assert report.lane == lane
    ours = answers_in(world, storage, manifest, plan)
    check_rows(asked, in_order(batches, until(batches)), ours)
    events = spark.read.parquet(str(tmp_path / "data")).where(f"unix_micros(ts) <= {until(batches)} OR ts IS NULL")
    events.coalesce(1).cache().createOrReplaceTempView(STREAM)
    for id, question in asked.items():
        compare(spark, str(tmp_path / f"warehouse_{lane}"), world.catalog, id, question, ours[id])
    spark.catalog.clearCache()


def compare(
    spark: SparkSession, warehouse: str, catalog: Any, id: str, question: Question, ours: dict[Any, Any]
) -> None:
    """Columns, types and places of the user's own statement; values of those that have one exact value."""
    theirs = spark.sql(catalog.statements[id].sql)
    read = read_results(spark, warehouse, catalog, id)
    assert [(f.name, f.dataType) for f in read.schema] == [(f.name, f.dataType) for f in theirs.schema], id
    found = {(*(row[key] for key in question.group_by), row.window.start): row[-1] for row in theirs.collect()}
    assert {(*key, start) for key, start in ours} == found.keys(), id
    assert {tuple(row)[:-1] for row in read.collect()} == {tuple(row)[:-1] for row in theirs.collect()}, id
    assert results_table(warehouse, catalog, id).num_rows == len(found)
    if question.aggregate in ("count", "min", "max"):
        assert all(same(ours[place[:-1], place[-1]], value) for place, value in found.items()) or question.x == "ts"
