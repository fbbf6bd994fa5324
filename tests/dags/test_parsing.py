"""The DAG files: thin, quick to parse, documented, and their forms name what the tables have."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from heddle.processes import ROOT, environment
from jobs.plans.replan import MEASURED
from optimizer.algebra.techniques import CARDS
from optimizer.planning.choices import COMPARED_STRATEGIES, REPLANNED_STRATEGIES, TECHNIQUE
from optimizer.strategies import STRATEGIES

HEAVY = ["pyspark", "numba", "mlflow", "great_expectations", "matplotlib", "sqlglot", "pyarrow"]
SCRIPT = """
import json, sys, time
from datetime import UTC, datetime, timedelta
from airflow.dag_processing.dagbag import DagBag
from airflow.sdk import dag
from airflow.serialization.serialized_objects import DagSerialization
import airflow.providers.apache.spark.operators.spark_submit
before = set(sys.modules)
started = time.process_time()
bag = DagBag()
seconds = time.process_time() - started
import plugins.heddle_plugin  # every process of Airflow does
from dags import forms
from dags.evaluate import EVENTS
def time_of(task):
    return task.execution_timeout or getattr(task, "response_timeout", None) or timedelta(0)
print("ANSWER" + json.dumps({
    "seconds": seconds,
    "errors": bag.import_errors,
    "files": sorted(stat.file.rpartition("/")[2] for stat in bag.dagbag_stats),
    "heavy": [name for name in %s if name in set(sys.modules) - before],
    "docs": {name: bool(dag.doc_md) for name, dag in bag.dags.items()},
    "active": {name: dag.max_active_runs for name, dag in bag.dags.items()},
    "retries": {f"{n}.{t.task_id}": t.retries for n, dag in bag.dags.items() for t in dag.tasks},
    "alerts": all(t.on_failure_callback for dag in bag.dags.values() for t in dag.tasks),
    "bare": [f"{n}.{p}" for n, dag in bag.dags.items() for p in dag.params if not dag.params.get_param(p).description
             or not dag.params.get_param(p).schema.get("title")],
    "strategies": forms.STRATEGIES,
    "techniques": forms.TECHNIQUES,
    "chosen": {n: {p: dag.params[p] for p in ("strategies", "techniques", "technique") if p in dag.params}
               for n, dag in bag.dags.items()},
    "submitted": sorted({t.application for dag in bag.dags.values() for t in dag.tasks if hasattr(t, "application")}),
    "streams": forms.catalog_streams(),
    "ids": forms.catalog_ids(),
    "folders": forms.catalog_folders(),
    "watched": {asset.name: [watcher.trigger.serialize() for watcher in asset.watchers] for asset in EVENTS},
    "deadline": [alert.interval.total_seconds() for alert in bag.dags["heddle_evaluate"].deadline],
    "outlets": {f"{n}.{t.task_id}": [o.name for o in t.outlets] for n, dag in bag.dags.items() for t in dag.tasks
                if t.outlets},
    "first": {n: (DagSerialization.from_dict(DagSerialization.to_dict(dag))
                  .next_dagrun_info(last_automated_run_info=None).run_after - datetime.now(UTC)).total_seconds()
              for n, dag in bag.dags.items() if dag.timetable.can_be_scheduled and n != "heddle_quarantine"},
    "starts": [n for n, dag in bag.dags.items() if dag.start_date],
    "endless": [f"{n}.{t.task_id}" for n, dag in bag.dags.items() for t in dag.tasks
                if not dag.dagrun_timeout or not timedelta(0) < time_of(t) < dag.dagrun_timeout],
    "numbered": [f"{n}.{t.task_id}" for n, dag in bag.dags.items() for t in dag.tasks
                 if t.get_closest_mapped_task_group() and not t.map_index_template],
}))
"""
THIN = 85  # lines, the docs a person reads in Airflow among them


@pytest.fixture(scope="module")
def parsed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    home = tmp_path_factory.mktemp("parsing")
    (home / "catalog").mkdir()
    (home / "catalog" / "a.yaml").write_text(
        "# all of them\nstreams:\n  b: {time: ts, source: {path: catalog}}\n# between\n"
        "  a:\n    time: ts\nqueries:\n  - {id: q, stream: a}\n"
    )
    (home / "catalog" / "broken.yml").write_text("streams: [\n")
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT % HEAVY],
        env={**environment(home), "HEDDLE_WATCH": "20", "HEDDLE_DEADLINE": "15"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    answer: dict[str, object] = {"home": str(home), **json.loads(process.stdout.rpartition("ANSWER")[2])}
    return answer


def test_they_parse_without_what_is_heavy(parsed: dict[str, object]) -> None:
    assert parsed["errors"] == {}
    assert parsed["heavy"] == []
    assert parsed["files"] == sorted(f"{name.removeprefix('heddle_')}.py" for name in parsed["docs"])  # type: ignore[attr-defined]
    assert parsed["docs"] == dict.fromkeys(parsed["docs"], True)  # type: ignore[call-overload]
    assert isinstance(parsed["seconds"], float)
    assert parsed["seconds"] < 10  # CPU seconds; a scheduler gives up after 30


def test_one_run_at_a_time_and_every_failure_is_told(parsed: dict[str, object]) -> None:
    active = dict(parsed["active"])  # type: ignore[call-overload]
    assert active.pop("heddle_quarantine") > 1  # a question that waits stops no other
    assert set(active.values()) == {1}
    assert parsed["alerts"] is True
    retries: dict[str, int] = parsed["retries"]  # type: ignore[assignment]
    once = {"heddle_register_query.write", "heddle_retire_query.write", "heddle_settle_batch.decide"}
    once.add("heddle_evaluate.micro_batch.require_passed")
    assert {name for name, count in retries.items() if not count} == once


def test_nothing_hangs_for_good_and_mapped_tasks_have_names(parsed: dict[str, object]) -> None:
    assert parsed["endless"] == []
    assert parsed["numbered"] == []
    assert all(name.startswith("heddle_") for name in parsed["docs"])  # type: ignore[attr-defined]


def test_unpausing_begins_no_run_of_the_past(parsed: dict[str, object]) -> None:
    """By the timetable that the scheduler reads back; what was due minutes ago still counts for the nightly one."""
    assert parsed["starts"] == []
    first: dict[str, float] = parsed["first"]  # type: ignore[assignment]
    assert sorted(first) == ["heddle_evaluate", "heddle_replan"]
    assert first["heddle_evaluate"] > 0
    assert first["heddle_replan"] > -300


def test_results_and_events_are_assets(parsed: dict[str, object]) -> None:
    folder = f"{parsed['home']}/catalog"
    assert parsed["folders"] == {"b": folder}
    assert parsed["watched"] == {"heddle_events_b": [["dags.assets.FilesTrigger", {"folder": folder, "seconds": 20}]]}
    assert parsed["deadline"] == [900]
    assert parsed["outlets"] == {
        "heddle_evaluate.micro_batch.publish": ["heddle_results"],
        "heddle_register_query.weave": ["heddle_plan"],
        "heddle_register_query.ask_for_replan": ["heddle_drift"],
        "heddle_replan.announce": ["heddle_plan"],
        "heddle_retire_query.weave": ["heddle_plan"],
        "heddle_retire_query.ask_for_replan": ["heddle_drift"],
    }


def test_the_forms_name_what_the_tables_have(parsed: dict[str, object]) -> None:
    assert parsed["bare"] == []
    assert sorted(parsed["strategies"]) == sorted(STRATEGIES)  # type: ignore[call-overload]
    assert sorted(parsed["techniques"]) == sorted(CARDS)  # type: ignore[call-overload]
    assert parsed["streams"] == ["a", "b"]
    assert parsed["ids"] == ["q"]


def test_the_forms_choose_what_the_commands_choose(parsed: dict[str, object]) -> None:
    chosen = {name: form for name, form in parsed["chosen"].items() if form}  # type: ignore[attr-defined]
    assert chosen == {
        "heddle_compare_strategies": {"strategies": [*COMPARED_STRATEGIES], "techniques": [TECHNIQUE]},
        "heddle_replan": {"strategies": [*REPLANNED_STRATEGIES], "technique": MEASURED},
    }


def test_the_jobs_that_they_submit_are_there(parsed: dict[str, object]) -> None:
    jobs = [Path(path).relative_to(ROOT) for path in parsed["submitted"]]  # type: ignore[attr-defined]
    assert [job.as_posix() for job in jobs] == [
        "expectations/micro_batch.py",
        "jobs/backfill.py",
        "jobs/compare.py",
    ]
    assert all((ROOT / job).is_file() for job in jobs)


@pytest.mark.parametrize("file", sorted(os.listdir(ROOT / "dags")))
def test_they_are_thin(file: str) -> None:
    path = Path(ROOT, "dags", file)
    if path.suffix == ".py" and file not in ("assets.py", "common.py", "forms.py", "local_runs.py"):
        assert len(path.read_text().splitlines()) < THIN
