"""DAG runs for real: replan, evaluate with audit and publication, queries that join and leave, forms that refuse."""

from __future__ import annotations

from datetime import datetime
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from heddle.processes import Airflow
from jobs.engine.warehouse.ledger import batches_of, newest_ledger
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.host.settings import Settings
from jobs.host.storage import Storage
from jobs.results import results_table
from jobs.steps.submit import streams_with_work
from jobs.tracking.comparisons import deviation_text
from jobs.tracking.past import run_rows
from jobs.tracking.registry import champion
from jobs.tracking.store import Store, open_store
from optimizer.catalog.read.load import load_catalog
from plugins.heddle_page.read.batches import list_backfills

LARGEST = 99  # of all readings
HOT = """
streams:
  hot: {source: {sql: "SELECT ts, machine, x FROM readings WHERE x > 50"}, time: ts, lateness: 1 second}
queries:
  - {id: hottest, stream: hot, select: max(x), group_by: [machine], range: 20 seconds, slide: 5 seconds}
"""


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def store(place: Settings) -> Store:
    return open_store(place)


def stored(place: Settings) -> Storage:
    return stream_storage(place.warehouse, "readings")


def test_replan_promotes_the_first_plan_and_not_the_same_again(airflow: Airflow, store: Store, said: list[str]) -> None:
    assert airflow.run("heddle_replan", {"promote": False, "rate": 5000}, said.append)["state"] == "success"
    assert champion(store, "readings") is None
    assert "dry run" in said[-1]
    assert airflow.run("heddle_replan", {"rate": 5000}, said.append)["state"] == "success"
    now = champion(store, "readings")
    assert now is not None
    assert now.number == 1
    assert airflow.run("heddle_replan", {"strategies": ["no_share"], "rate": 5000}, said.append)["state"] == "success"
    after = champion(store, "readings")
    assert after is not None
    assert after.number == 1
    assert len(run_rows(store, "readings", "replan")) == 3
    assert all(row["status"] == "FINISHED" for row in run_rows(store, "readings", "replan"))


def test_evaluate_audits_publishes_and_logs(airflow: Airflow, place: Settings, store: Store, said: list[str]) -> None:
    outcome = airflow.run("heddle_evaluate", {"files_per_batch": 1, "sample": 2}, said.append)
    assert outcome["state"] == "success", airflow.log.read_text()[-4000:]
    assert outcome["mapped"] == ["heddle evaluate readings", "readings"]
    manifest, ledger = newest(stored(place)), newest_ledger(stored(place))
    assert manifest.batch == 1
    assert ledger.in_use
    assert not ledger.pending(manifest.results)
    assert ledger.published
    (row,) = run_rows(store, "readings", "evaluation")
    assert row["metrics"]["events"] == 1200
    assert row["metrics"]["passed_audit"] == 1
    assert row["params"]["plan_version"] == "1"
    assert any(line.startswith("batch 1: ") for line in said)  # of the submitted job, while it runs
    assert "comparing both sides" in said


def test_nothing_new_is_nothing_to_do(airflow: Airflow, place: Settings, store: Store, said: list[str]) -> None:
    before = newest(stored(place)).sequence
    assert airflow.run("heddle_evaluate", {}, said.append)["state"] == "success"
    assert "to evaluate: nothing" in said
    assert newest(stored(place)).sequence == before
    assert len(run_rows(store, "readings", "evaluation")) == 1


def test_a_comparison_is_one_run_a_plan(airflow: Airflow, place: Settings, store: Store, said: list[str]) -> None:
    before = newest(stored(place)).sequence
    plans = {"strategies": ["no_share", "shared"], "techniques": ["daba"]}
    outcome = airflow.run("heddle_compare_strategies", {**plans, "files": 1}, said.append)
    assert outcome["state"] == "success", airflow.log.read_text()[-4000:]
    (parent,) = run_rows(store, "readings", "comparison")
    assert parent["metrics"]["runs"] == 2
    assert deviation_text(parent["metrics"].get("deviation")) in said[-1]
    runs = run_rows(store, "readings", "comparison_run")
    assert {row["tags"]["mlflow.parentRunId"] for row in runs} == {parent["run"]}
    compared = sorted((row["params"]["strategy"], row["params"]["technique"]) for row in runs)
    assert compared == sorted(product(plans["strategies"], plans["techniques"]))
    assert all(row["metrics"]["events"] == 600 and row["metrics"]["CPU_ms_measured"] > 0 for row in runs)
    assert newest(stored(place)).sequence == before


def test_a_past_interval_is_filled_beside_what_is_live(airflow: Airflow, place: Settings, said: list[str]) -> None:
    before = newest(stored(place)).sequence
    span = {"from": "1970-01-01T00:00:30Z", "to": "1970-01-01T00:01:10Z"}
    outcome = airflow.run("heddle_backfill", {"stream": "readings", **span}, said.append)
    assert outcome["state"] == "success", airflow.log.read_text()[-4000:]
    assert newest(stored(place)).sequence == before
    (into,) = Path(place.home, "backfills").iterdir()
    (backfill,) = list_backfills(place, "readings")
    assert (backfill.warehouse, str(backfill.until)) == (str(into), "1970-01-01 00:01:10+00:00")
    catalog = load_catalog(place.catalog)
    for query in catalog.statements:
        live = results_table(place.warehouse, catalog, query)
        end = pc.struct_field(live["window"], "end")
        low, high = (pa.scalar(datetime.fromisoformat(text), end.type) for text in span.values())
        assert results_table(str(into), catalog, query) == live.filter(
            pc.and_(pc.greater(end, low), pc.less_equal(end, high))
        )


def test_a_failed_audit_publishes_nothing_until_a_person_decides(
    airflow: Airflow, place: Settings, said: list[str]
) -> None:
    answers, batch = spoilt(place), newest(stored(place)).batch
    outcome = airflow.run("heddle_evaluate", {"sample": 2}, said.append)
    assert (outcome["state"], outcome["failed"]) == ("failed", [["micro_batch.require_passed", 0]])
    ledger = newest_ledger(stored(place))
    assert ledger.quarantined
    assert not ledger.published
    assert published_rows(place) == 0
    alert = Path(place.home, "alerts.log").read_text().splitlines()[-1]
    assert "exact answers equal" in alert
    assert "is quarantined; " in alert
    decide = {"stream": "readings", "batch": batch}
    assert airflow.run("heddle_settle_batch", {**decide, "decision": "perhaps"}, str)["state"] == "refused"
    assert airflow.run("heddle_settle_batch", {**decide, "decision": "discard"}, str)["state"] == "success"
    assert set(newest_ledger(stored(place)).discarded) <= set(ledger.quarantined)
    assert published_rows(place) == 0
    assert airflow.run("heddle_settle_batch", {**decide, "decision": "release"}, said.append)["state"] == "success"
    assert f"readings: batch {batch} is published" in said
    assert 0 < published_rows(place) <= answers
    undecided(place, ledger.sequence)
    assert airflow.run("heddle_backfill", {"stream": "readings", "repair": True}, said.append)["state"] == "success"
    repaired = newest_ledger(stored(place)).pending(newest(stored(place)).results)
    values = [pq.read_table(stored(place).path(file.name))["value double"] for file in repaired]
    assert max(pc.max(each).as_py() for each in values) <= LARGEST
    assert airflow.run("heddle_evaluate", {"sample": 2}, said.append)["state"] == "success"
    assert batches_of(newest(stored(place)), newest_ledger(stored(place)).quarantined) == []
    assert published_rows(place) == answers


def published_rows(place: Settings) -> int:
    return int(results_table(place.warehouse, load_catalog(place.catalog), "peak").num_rows)


def spoilt(place: Settings) -> int:
    """As if no audit had been: the ledger's newest entry is gone, and every answer is one more than it was."""
    storage, rows = stored(place), published_rows(place)
    Path(storage.path("ledger"), f"{newest_ledger(storage).sequence:012d}.json").unlink()
    for file in newest_ledger(storage).pending(newest(storage).results):
        table = pq.read_table(storage.path(file.name))
        number = table.schema.get_field_index("value double")
        more = pc.add(table["value double"], 1.0)
        pq.write_table(table.set_column(number, "value double", more), storage.path(file.name))
    return rows


def undecided(place: Settings, sequence: int) -> None:
    """As if no one had decided since the ledger's entry of that number."""
    for entry in Path(stored(place).path("ledger")).glob("*.json"):
        if int(entry.stem) > sequence:
            entry.unlink()


def test_a_query_joins_and_leaves(airflow: Airflow, place: Settings, store: Store, said: list[str]) -> None:
    new = {"id": "low", "stream": "readings", "select": "min(x)", "group_by": ["machine"], "range": "20 seconds"}
    tried = airflow.run("heddle_register_query", {**new, "slide": "5 seconds", "dry_run": True}, said.append)
    assert tried["state"] in ("success", "skipped")
    assert "low" not in load_catalog(place.catalog).rows
    assert airflow.run("heddle_register_query", {**new, "slide": "5 seconds"}, said.append)["state"] == "success"
    catalog = load_catalog(place.catalog)
    assert catalog.query("low").aggregate == "min"
    now = champion(store, "readings")
    assert now is not None
    assert now.catalog == catalog.fingerprint("readings")
    assert now.queries == 4
    assert any("windows that end after" in line and "are added by heddle backfill" in line for line in said), said
    assert airflow.run("heddle_retire_query", {"id": "low"}, said.append)["state"] == "success"
    assert "low" not in load_catalog(place.catalog).rows
    again = champion(store, "readings")
    assert again is not None
    assert again.queries == 3


@pytest.mark.parametrize(
    ("dag", "conf", "why"),
    [
        ("heddle_replan", {"strategies": ["nope"]}, "nope"),
        ("heddle_replan", {"strategies": []}, "strategies"),
        ("heddle_replan", {"technique": "guess"}, "technique"),
        ("heddle_replan", {"rate": -1}, "rate"),
        ("heddle_replan", {"promote": "perhaps"}, "promote"),
        ("heddle_evaluate", {"stream": "no_such_stream"}, "stream"),
        ("heddle_evaluate", {"files_per_batch": -1}, "files_per_batch"),
        ("heddle_register_query", {"id": "../etc", "stream": "readings", "select": "max(x)"}, "id"),
        ("heddle_register_query", {"id": "a", "stream": "readings", "select": "max(x)", "range": "soon"}, "range"),
        ("heddle_retire_query", {"id": "Robert'); DROP"}, "id"),
        ("heddle_retire_query", {}, "id"),
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
    assert airflow.run("heddle_register_query", conf, said.append)["state"] == "failed"
    alert = Path(place.home, "alerts.log").read_text().splitlines()[-1]
    assert "heddle_register_query.write failed" in alert
    assert "reflect" in alert
    assert not Path(place.catalog, "bad.yaml").exists()


def test_a_stream_made_by_sql_is_evaluated_on_schedule(
    place: Settings, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files are those of the stream that its SQL reads, which this one has not taken yet."""
    monkeypatch.setenv("HEDDLE_HOME", place.home)
    Path(place.catalog, "hot.yaml").write_text(HOT)
    assert "hot" in streams_with_work(None, said.append)
    assert any(line.startswith("hot: 2 of 2 files are new") for line in said), said
