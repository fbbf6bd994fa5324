"""DAG runs for real: replan, evaluate with audit and publication, queries that join and leave, forms that refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from heddle.airflow import Airflow
from jobs.engine.ledger import newest_ledger
from jobs.engine.manifest import newest
from jobs.engine.storage import Storage
from jobs.engine.warehouse import stream_storage
from jobs.settings import Settings
from jobs.tracking.past import run_rows
from jobs.tracking.registry import champion
from jobs.tracking.store import Store, open_store
from optimizer.catalog.load import load_catalog


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def store(place: Settings) -> Store:
    return open_store(place)


def stored(place: Settings) -> Storage:
    return stream_storage(place.warehouse, "readings")


def test_replan_promotes_the_first_plan_and_not_the_same_again(airflow: Airflow, store: Store, said: list[str]) -> None:
    assert airflow.run("replan", {"promote": False, "rate": 5000}, said.append)["state"] == "success"
    assert champion(store, "readings") is None
    assert "dry run" in said[-1]
    assert airflow.run("replan", {"rate": 5000}, said.append)["state"] == "success"
    now = champion(store, "readings")
    assert now is not None
    assert now.number == 1
    assert airflow.run("replan", {"strategies": ["no_share"], "rate": 5000}, said.append)["state"] == "success"
    after = champion(store, "readings")
    assert after is not None
    assert after.number == 1
    assert len(run_rows(store, "readings", "replan")) == 3
    assert all(row["status"] == "FINISHED" for row in run_rows(store, "readings", "replan"))


def test_evaluate_audits_publishes_and_logs(airflow: Airflow, place: Settings, store: Store, said: list[str]) -> None:
    outcome = airflow.run("evaluate", {"files_per_batch": 1, "sample": 2}, said.append)
    assert outcome["state"] == "success", airflow.log.read_text()[-4000:]
    manifest, ledger = newest(stored(place)), newest_ledger(stored(place))
    assert manifest.batch == 1
    assert ledger.in_use
    assert not ledger.pending(manifest.results)
    assert ledger.published
    (row,) = run_rows(store, "readings", "evaluation")
    assert row["metrics"]["events"] == 1200
    assert row["metrics"]["audit.passed"] == 1
    assert row["params"]["plan_version"] == "1"


def test_nothing_new_is_nothing_to_do(airflow: Airflow, place: Settings, store: Store, said: list[str]) -> None:
    before = newest(stored(place)).sequence
    assert airflow.run("evaluate", {}, said.append)["state"] == "success"
    assert "to evaluate: nothing" in said
    assert newest(stored(place)).sequence == before
    assert len(run_rows(store, "readings", "evaluation")) == 1


def test_a_query_joins_and_leaves(airflow: Airflow, place: Settings, store: Store, said: list[str]) -> None:
    new = {"id": "low", "stream": "readings", "select": "min(x)", "group_by": ["machine"], "range": "20 seconds"}
    assert airflow.run("register_query", {**new, "slide": "5 seconds"}, said.append)["state"] == "success"
    catalog = load_catalog(place.catalog)
    assert catalog.query("low").aggregate == "min"
    now = champion(store, "readings")
    assert now is not None
    assert now.catalog == catalog.fingerprint("readings")
    assert now.queries == 4
    assert airflow.run("retire_query", {"id": "low"}, said.append)["state"] == "success"
    assert "low" not in load_catalog(place.catalog).rows
    again = champion(store, "readings")
    assert again is not None
    assert again.queries == 3


@pytest.mark.parametrize(
    ("dag", "conf", "why"),
    [
        ("replan", {"strategies": ["nope"]}, "nope"),
        ("replan", {"strategies": []}, "strategies"),
        ("replan", {"technique": "guess"}, "technique"),
        ("replan", {"rate": -1}, "rate"),
        ("replan", {"promote": "perhaps"}, "promote"),
        ("evaluate", {"stream": "no_such_stream"}, "stream"),
        ("evaluate", {"files_per_batch": -1}, "files_per_batch"),
        ("register_query", {"id": "../etc", "stream": "readings", "select": "max(x)"}, "id"),
        ("register_query", {"id": "a", "stream": "readings", "select": "max(x)", "range": "soon"}, "range"),
        ("retire_query", {"id": "Robert'); DROP"}, "id"),
        ("retire_query", {}, "id"),
    ],
)
def test_forms_refuse(airflow: Airflow, dag: str, conf: dict[str, object], why: str) -> None:
    outcome = airflow.run(dag, conf, str)
    assert outcome["state"] == "refused"
    assert why in outcome["why"]


def test_a_query_that_the_catalog_refuses_fails_with_its_line(
    airflow: Airflow, place: Settings, said: list[str]
) -> None:
    conf = {"id": "bad", "stream": "readings", "select": "reflect('java.lang.System', 'exit')", "slide": "1 second"}
    assert airflow.run("register_query", conf, said.append)["state"] == "failed"
    alert = Path(place.home, "alerts.log").read_text().splitlines()[-1]
    assert "register_query.write failed" in alert
    assert "reflect" in alert
    assert not Path(place.catalog, "bad.yaml").exists()
