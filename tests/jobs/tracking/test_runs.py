"""Runs as MLflow keeps them: parents and children, artifacts, metrics, each key once, few transactions."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from jobs.host.settings import Settings
from jobs.steps.replan import forget_old_runs
from jobs.tracking.comparisons import log_comparison
from jobs.tracking.evaluations import CALIBRATION, Evaluation, log_evaluation
from jobs.tracking.past import ENOUGH, past_runs, prices, run_rows
from jobs.tracking.plan_model import PlanModel
from jobs.tracking.registry import OPERATIONS, SECONDS, Decision, champion, plan_of
from jobs.tracking.replans import Replan, conclude, log_replan
from jobs.tracking.store import PARENT, Entry, Store
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan, Shards
from optimizer.plan.prices import operations_for
from optimizer.planning.stream import plan_stream
from tests.worlds.platform import QUERIES, catalog_of, planned, replanned, report


def test_a_replan_has_children_a_picture_and_a_row_per_query(store: Store, place: Settings) -> None:
    catalog = catalog_of(place)
    plan = planned(catalog, "no_share")
    version, _ = replanned(store, catalog, plan)
    (row,) = run_rows(store, "readings", "replan")
    assert row["status"] == "FINISHED"
    assert row["params"]["strategy"] == "no_share"
    assert float(row["params"]["lambda"]) == 5000.0
    assert row["params"]["catalog_fingerprint"] == plan.catalog_fingerprint
    assert row["metrics"]["estimated_cost"] == pytest.approx(plan.cost)
    assert row["metrics"]["no_share_cost"] == pytest.approx(plan.costs.no_share)
    assert row["tags"]["promoted"] == "true"
    children = run_rows(store, "readings", "tree")
    assert len(children) == len(plan.trees)
    assert {child["tags"][PARENT] for child in children} == {version.run}
    assert store.read(version.run, "plan/plan.svg").startswith(b"<?xml")
    assert Plan.from_json(store.read(version.run, "plan/plan.json").decode()) == plan
    queries = pq.read_table(io.BytesIO(store.read(version.run, "queries.parquet")))
    assert sorted(queries["query"].to_pylist()) == ["mean", "peak", "wider"]
    assert None not in queries["tree"].to_pylist()


def test_a_replan_says_the_champions_cost_in_the_unit_that_people_read(store: Store, place: Settings) -> None:
    catalog = catalog_of(place)
    plan = planned(catalog)
    for unit in (SECONDS, OPERATIONS):
        run = log_replan(store, Replan(catalog, plan, 0.1))
        conclude(store, run, plan, None, Decision(False, 0.002, 0.001, unit, "it costs more"), promoted=False)
    in_operations, in_seconds = run_rows(store, "readings", "replan")
    assert in_seconds["metrics"]["CPU_ms_of_champion"] == pytest.approx(0.2)  # per 1,000 of 5,000 events a second
    assert in_operations["metrics"]["champion_cost"] == 0.001


def test_an_evaluation_says_how_far_estimates_are_off(store: Store, place: Settings) -> None:
    catalog = catalog_of(place)
    plan = planned(catalog)
    assert prices(store, "readings") is None
    for events, seconds in ((1000, 0.5), (2000, 1.0), (4000, 3.0)):
        log_evaluation(store, Evaluation(catalog, plan, report(plan, events, seconds)))
    last, _, first = run_rows(store, "readings", "evaluation")
    assert "surprise" not in calibration(store, first)  # nothing was known
    assert calibration(store, last)["surprise"] == pytest.approx(1 / 3, rel=0.05)
    known = prices(store, "readings")
    assert known is not None
    assert known.error == pytest.approx(calibration(store, last)["error"])
    assert [past.throughput for past in past_runs(store, "readings")] == pytest.approx([4000 / 3, 2000, 2000])


def calibration(store: Store, row: dict[str, Any]) -> dict[str, Any]:
    """What an evaluation let prices be fitted to."""
    document: dict[str, Any] = json.loads(store.read(row["run"], CALIBRATION))
    return document


def test_few_metrics_and_the_unit_of_cost_first(store: Store, place: Settings) -> None:
    catalog = catalog_of(place)
    plan = planned(catalog)
    audit = {"passed": True, "rows": 12, "windows": 3}
    log_evaluation(store, Evaluation(catalog, plan, report(plan) | {"estimated_seconds": 1.0}, audit))
    (row,) = run_rows(store, "readings", "evaluation")
    assert sorted(row["metrics"], key=str.lower)[:2] == ["CPU_ms_estimated", "CPU_ms_measured"]  # as MLflow's charts go
    assert list(row["metrics"])[:2] == ["CPU_ms_measured", "CPU_ms_estimated"]  # as its comparison goes
    assert len(row["metrics"]) <= 12, row["metrics"]
    assert [row["metrics"][name] for name in ("CPU_ms_measured", "CPU_ms_estimated")] == [1500.0, 1000.0]


def test_runs_of_the_version_before_are_still_read(store: Store, place: Settings) -> None:
    """It had a metric for every count, and no tag."""
    catalog = catalog_of(place)
    plan = planned(catalog)
    log_evaluation(store, Evaluation(catalog, plan, report(plan)))
    (now,) = past_runs(store, "readings")
    done = now.measured.operations
    counts = {"partial_operations": done.partials, "trees": done.trees, "roots": done.roots}
    counts |= {f"final_operations.{name}": count for name, count in done.finals.items()}
    counts |= {f"handled.{name}": count for name, count in done.handled.items()}
    metrics = {**counts, "engine_seconds": now.measured.seconds, "batches": now.measured.batches, "events": now.events}
    params = {"strategy": now.strategy, "technique": now.technique, "lane": now.lane}
    before = store.child(Entry("readings", "evaluation", "evaluate", params, metrics), "")
    runs = {past.run: past for past in past_runs(store, "readings")}
    assert runs[before] == replace(now, run=before)


def test_few_runs_are_helped_by_those_of_other_streams(store: Store, place: Settings) -> None:
    """Every run takes a second, whatever it brings: one run alone cannot tell."""
    catalog = catalog_of(place)
    plan = planned(catalog)
    log_evaluation(store, Evaluation(catalog, plan, report(plan, 4000, 1.0)))
    small = operations_for(plan, 1000)
    alone = prices(store, "readings")
    assert alone is not None
    assert alone.seconds(small, 2) == pytest.approx(0.25, rel=0.1)
    Path(place.catalog, "queries.yaml").write_text(QUERIES.replace("readings", "others"))
    other = plan_stream(catalog_of(place), "others", 5000.0, "weave_share", "two_stacks_block")
    for events in (500, 2000):
        log_evaluation(store, Evaluation(catalog_of(place), other, report(other, events, 1.0)))
    helped = prices(store, "readings")
    assert helped is not None
    assert helped.seconds(small, 2) == pytest.approx(1.0, rel=0.05)
    for _ in range(ENOUGH):
        log_evaluation(store, Evaluation(catalog, plan, report(plan, 4000, 2.0)))
    own = prices(store, "readings")
    assert own is not None
    assert own.seconds(operations_for(plan, 4000), 2) == pytest.approx(5 / 3, rel=0.01)  # the best of its own nine


def test_runs_of_another_machine_tell_no_prices(store: Store, place: Settings) -> None:
    catalog = catalog_of(place)
    plan = planned(catalog)
    slow, fast = ({"processor": name, "master": "local[2]"} for name in ("slow", "fast"))
    for _ in range(ENOUGH):
        log_evaluation(store, Evaluation(catalog, plan, report(plan, 4000, 4.0) | {"machine": slow}))
    log_evaluation(store, Evaluation(catalog, plan, report(plan, 4000, 1.0) | {"machine": fast}))
    newest, before, *_ = run_rows(store, "readings", "evaluation")
    assert newest["tags"]["heddle.machine.processor"] == "fast"
    assert newest["tags"]["heddle.machine.master"] == "local[2]"
    assert newest["tags"]["heddle.machine"] != before["tags"]["heddle.machine"]
    assert "surprise" not in calibration(store, newest)  # nothing was known of this machine
    known = prices(store, "readings")
    assert known is not None
    assert known.seconds(operations_for(plan, 4000), 2) == pytest.approx(1.0, rel=0.1)


def test_a_key_is_logged_once(store: Store, place: Settings) -> None:
    catalog = catalog_of(place)
    plan = planned(catalog)
    evaluation = Evaluation(catalog, plan, report(plan), key="manual__1")
    assert log_evaluation(store, evaluation) == log_evaluation(store, evaluation)
    (row,) = run_rows(store, "readings", "evaluation")
    assert run_rows(store, "readings", "tree") == []  # trees are a table of the run
    assert len(json.loads(store.read(row["run"], "trees.json"))["data"]) == len(plan.trees)


def test_an_evaluation_without_events_is_logged_and_calibrates_nothing(store: Store, place: Settings) -> None:
    catalog = catalog_of(place)
    plan = planned(catalog)
    log_evaluation(store, Evaluation(catalog, plan, report(plan, 0, 0.0)))
    assert len(run_rows(store, "readings", "evaluation")) == 1
    assert prices(store, "readings") is None


def test_a_comparison_is_a_parent_with_a_run_per_plan(store: Store, place: Settings) -> None:
    catalog = catalog_of(place)
    plans = [planned(catalog, s, t) for s in ("no_share", "weave_share") for t in ("panes", "two_stacks_block")]
    reports = [report(plan, 1000, 1e-4 * plan.cost) for plan in plans]
    for each in reports:
        each["estimated_seconds"] = 1.1 * sum(each["step_seconds"].values())
    compared = [Evaluation(catalog, plan, each) for plan, each in zip(plans, reports, strict=True)]
    parent, deviation = log_comparison(store, compared, key="once")
    assert deviation == pytest.approx(0.1)
    assert store.read(parent, "CPU_ms.svg").startswith(b"<?xml")
    assert log_comparison(store, compared, key="once") == (parent, pytest.approx(deviation))
    rows = run_rows(store, "readings", "comparison_run")
    assert len(rows) == 4
    assert {row["tags"][PARENT] for row in rows} == {parent}
    assert {row["params"]["technique"] for row in rows} == {"panes", "two_stacks_block"}
    assert all(set(row["params"]) == {"strategy", "technique"} for row in rows)  # what MLflow's comparison opens on
    assert {tuple(row["metrics"])[:3] for row in rows} == {("CPU_ms_measured", "CPU_ms_estimated", "CPU_regret")}
    assert min(row["metrics"]["CPU_regret"] for row in rows) == 1
    (above,) = run_rows(store, "readings", "comparison")
    assert " times as fast as no_share" in above["name"]
    run = store.client.get_run(parent)
    assert [each.dataset.name for each in run.inputs.dataset_inputs] == ["readings", "catalog of readings"]
    assert "[Compare the runs](#/compare-runs?runs=" in run.data.tags["mlflow.note.content"]
    assert all(row["run"] in run.data.tags["mlflow.note.content"] for row in rows)
    with pytest.raises(HeddleError, match="nothing was compared"):
        log_comparison(store, [])


def test_the_champion_loads_as_a_model_that_predicts_its_cost(store: Store, place: Settings) -> None:
    import mlflow

    catalog = catalog_of(place)
    plan = planned(catalog)
    version, _ = replanned(store, catalog, plan)
    mlflow.set_tracking_uri(place.tracking)
    try:
        model = mlflow.pyfunc.load_model("models:/heddle-readings@champion")
    finally:
        mlflow.set_tracking_uri(None)
    predicted = model.predict(pd.DataFrame({"rate": [plan.rate, 2 * plan.rate]}))
    assert predicted["operations_per_second"][0] == pytest.approx(plan.cost)
    assert predicted["operations_per_second"][1] > plan.cost
    assert version.champion or version.number == 1


def test_a_plan_of_shards_costs_more_at_a_higher_rate(place: Settings) -> None:
    plan = planned(catalog_of(place))
    first, *others = plan.trees
    shards = Shards(predicates=3, measures=1, events=plan.rate, alpha=2.5, shards=10.0, beta=1.1)
    model = PlanModel(replace(plan, trees=(replace(first, shards=shards), *others)), None)
    rates = [plan.rate / 10, plan.rate, 2 * plan.rate]
    operations = list(model.predict(pd.DataFrame({"rate": rates}))["operations_per_second"])
    assert operations[2] - operations[1] == pytest.approx(plan.rate * (1 + sum(len(tree.demands) for tree in others)))
    assert operations[0] < operations[1] / 2


def test_a_run_says_when_where_and_from_what(store: Store, place: Settings) -> None:
    catalog = catalog_of(place)
    plan = planned(catalog)
    timed = report(plan) | {"started": 1e9, "ended": 1e9 + 5, "numbers": [3, 4], "batch_seconds": [2.0, 1.0]}
    run = store.client.get_run(log_evaluation(store, Evaluation(catalog, plan, timed, version=2)))
    assert run.info.run_name.startswith("evaluate v2, batches 3-4, ")
    assert (run.info.start_time, run.info.end_time) == (10**12, 10**12 + 5000)
    assert {each.dataset.name for each in run.inputs.dataset_inputs} == {"readings", "catalog of readings"}
    assert {"mlflow.source.name", "heddle.version", "heddle.machine"} <= run.data.tags.keys()
    series = store.client.get_metric_history(run.info.run_id, "seconds_of_batch")
    assert [(each.step, each.value) for each in series] == [(0, 2.0), (1, 1.0)]


def test_old_runs_are_forgotten_but_not_those_of_registered_plans(store: Store, place: Settings) -> None:
    catalog = catalog_of(place)
    plan = planned(catalog)
    version, _ = replanned(store, catalog, plan)
    old = log_evaluation(store, Evaluation(catalog, plan, report(plan) | {"started": 1e9}))
    new = log_evaluation(store, Evaluation(catalog, plan, report(plan)))
    assert forget_old_runs(store, "readings", 0) == 0
    assert forget_old_runs(store, "readings", 90) == 1
    assert [row["run"] for row in run_rows(store, "readings", "evaluation")] == [new]
    assert store.client.get_run(old).info.lifecycle_stage == "deleted"
    assert store.client.get_run(version.run).info.lifecycle_stage == "active"


def test_a_run_takes_few_transactions(store: Store, place: Settings) -> None:
    catalog = catalog_of(place)
    plan = planned(catalog)
    log_evaluation(store, Evaluation(catalog, plan, report(plan)))
    commits: list[Any] = []

    def count(connection: Any) -> None:
        commits.append(connection)

    event.listen(Engine, "commit", count)
    try:
        log_evaluation(store, Evaluation(catalog, plan, report(plan)))
    finally:
        event.remove(Engine, "commit", count)
    assert len(commits) < 20


def test_the_champion_is_read_back_from_another_store(store: Store, place: Settings) -> None:
    from jobs.tracking.store import open_store

    catalog = catalog_of(place)
    replanned(store, catalog, planned(catalog))
    again = open_store(place)
    now = champion(again, "readings")
    assert now is not None
    assert plan_of(again, now).fingerprint() == now.plan
