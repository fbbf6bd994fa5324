"""Replanning by measured traffic and by what past runs took."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.host.settings import Settings
from jobs.measure.stream import measure_stream
from jobs.plans.queries import preview_query, preview_retirement, register_query, retire_query, weave
from jobs.plans.replan import Wish, candidates, champion_file, done_before, replan
from jobs.tracking.evaluations import Evaluation, log_evaluation
from jobs.tracking.past import run_rows
from jobs.tracking.registry import champion, plan_of
from jobs.tracking.store import Store
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan, Traffic
from optimizer.plan.prices import Prices
from tests.worlds.platform import catalog_of, planned, report


@pytest.fixture
def events(place: Settings) -> None:
    """Ten a second, three machines, one event two seconds too late."""
    times = np.arange(600) * 100_000
    times[300] -= 2_000_000
    table = pa.table({"ts": pa.array(times, pa.timestamp("us", "UTC")), "machine": [f"m{n % 3}" for n in range(600)]})
    folder = Path(place.home, "data")
    folder.mkdir()
    pq.write_table(table.append_column("x", pa.array(np.ones(600))), folder / "a.parquet")


@pytest.mark.usefixtures("events")
def test_a_stream_is_measured(place: Settings) -> None:
    measured = measure_stream(catalog_of(place), "readings")
    assert measured.rate == pytest.approx(10, rel=0.01)
    assert measured.keys == pytest.approx(3)
    assert measured.disorder == pytest.approx(1 / 600)
    assert measured.delay == pytest.approx(1.9)


@pytest.mark.usefixtures("events")
def test_a_replan_with_a_key_is_done_once(store: Store, place: Settings) -> None:
    said: list[str] = []
    wish = Wish("readings", ("weave_share", "no_share"), key="scheduled__1")
    assert done_before(store, wish) is None
    found = replan(store, catalog_of(place), wish, said.append)
    assert found.promoted
    again = done_before(store, wish)
    assert again is not None
    assert (again.run, again.version, again.promoted) == (found.run, found.version, True)
    (row,) = run_rows(store, "readings", "replan")
    assert {"stream.rate", "stream.keys"} <= row["metrics"].keys()
    assert costs_of(store, row)["plan"] == ["weave_share", "no_share"]
    assert costs_of(store, row)["operations per second"] == sorted(costs_of(store, row)["operations per second"])
    assert any("estimated for" in line for line in said)


@pytest.mark.usefixtures("events")
def test_the_champion_as_a_file_follows_the_catalog(place: Settings) -> None:
    said: list[str] = []
    found = champion_file(place, catalog_of(place), "readings", said.append)
    assert Plan.from_json(Path(found.path).read_text()).catalog_fingerprint == catalog_of(place).fingerprint("readings")
    assert any("planned now" in line for line in said)
    said.clear()
    assert champion_file(place, catalog_of(place), "readings", said.append) == found
    assert said == []


def test_measured_takes_what_past_runs_show_to_be_fastest(place: Settings) -> None:
    catalog, traffic = catalog_of(place), Traffic(1000.0, 3.0, 1_000_000)
    unknown = candidates(catalog, "readings", traffic, ["weave_share"])
    assert unknown.best == candidates(catalog, "readings", traffic, ["weave_share"], "two_stacks_block").best
    finals = {"final.two_stacks_block": 1e-5, "final.daba": 1e-7, "final.slick_deque_inv": 1e-9}
    prices = Prices({"partial": 1e-7, **finals})
    found = candidates(catalog, "readings", traffic, ["weave_share"], prices=prices)
    assert found.unit == "seconds per second"
    assert found.in_operations.keys() == found.costs.keys()
    assert found.best.costs.seconds is not None
    assert "CPU ms per 1,000 events" in found.best.explain()
    assert "planned cost" in found.best.explain()
    assert {demand.technique for tree in found.best.trees for demand in tree.demands} == {"daba"}
    assert set(found.costs) == {"weave_share.two_stacks_block", "weave_share.daba"}  # max has no inverse


@pytest.mark.usefixtures("events")
def test_prices_come_from_the_runs_of_the_stream(store: Store, place: Settings) -> None:
    catalog = catalog_of(place)
    for technique, seconds in (("two_stacks_block", 5.0), ("flat_fit", 0.5)):
        plan = planned(catalog, technique=technique)
        log_evaluation(store, Evaluation(catalog, plan, report(plan, 1000, seconds)))
    said: list[str] = []
    replan(store, catalog, Wish("readings", ("weave_share",), rate=5000.0, promote=False), said.append)
    (row,) = run_rows(store, "readings", "replan")
    assert set(costs_of(store, row)["plan"]) >= {"weave_share.flat_fit", "weave_share.two_stacks_block"}


def costs_of(store: Store, row: dict[str, Any]) -> dict[str, list[Any]]:
    """What every plan of a replan would cost, as its run shows it."""
    table = json.loads(store.read(row["run"], "costs.json"))
    return {name: [line[place] for line in table["data"]] for place, name in enumerate(table["columns"])}


@pytest.mark.usefixtures("events")
def test_changes_go_by_the_builds_that_the_plan_keeps(store: Store, place: Settings) -> None:
    """Every change counts, deletes too; the first one beyond the tolerance asks for a replan."""
    said: list[str] = []
    replan(store, catalog_of(place), Wish("readings", ("weave_share",)), said.append)
    due = []
    for number in range(3):
        entry = {"id": f"n{number}", "stream": "readings", "select": "max(x)", "range": "21 seconds"}
        register_query(place.catalog, {**entry, "slide": f"{7 + number} seconds"}, said.append)
        due.append(weave(store, load_catalog(place.catalog), "readings", f"add {number}", said.append, 10.0).replan_due)
    retire_query(place.catalog, "n0", said.append)
    last = weave(store, load_catalog(place.catalog), "readings", "delete", said.append, 10.0)
    now = champion(store, "readings")
    assert now is not None
    plan = plan_of(store, now)
    assert plan.builds.strategy == "weave_share"
    changes = {json.loads(name)[0][0] if json.loads(name)[0] else "": count for name, _, count in plan.builds.groups}
    assert changes[""] == 4
    assert due == [False, True, True]  # more changes than the slope of so few queries can be trusted for
    assert last.replan_due
    assert any("is tolerated" in line for line in said)


def test_mistakes_are_one_line(store: Store, place: Settings) -> None:
    for wish in (Wish("nowhere"), Wish("readings", ("nope",)), Wish("readings", rate=-1.0), Wish("readings", ())):
        with pytest.raises(HeddleError) as caught:
            replan(store, catalog_of(place), wish, str)
        assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("events")
def test_a_dry_run_says_what_would_change_and_changes_nothing(store: Store, place: Settings) -> None:
    said: list[str] = []
    entry = {"id": "extra", "stream": "readings", "select": "min(x)", "range": "20 seconds", "slide": "5 seconds"}
    preview_query(store, place.catalog, entry, said.append)
    assert said[-1] == "dry run: readings has no plan yet; the query takes part from the first replan on"
    catalog = catalog_of(place)
    replan(store, catalog, Wish("readings", ("weave_share",)), said.append)
    before, files = champion(store, "readings"), sorted(Path(place.catalog).parent.rglob("*.yaml"))
    del said[:]
    preview_query(store, place.catalog, entry, said.append)
    queries = len(catalog.of_stream("readings"))
    assert said[0].startswith(f"dry run: {queries} queries in ")
    assert said[1].startswith(f"dry run: then {queries + 1} queries in ")
    assert said[2].endswith(": extra")
    leaving = catalog.of_stream("readings")[0].id
    preview_retirement(store, place.catalog, leaving, said.append)
    assert any(line.startswith(f"dry run: then {queries - 1} quer") for line in said)
    assert f"dry run: leaves: {leaving}" in said
    assert champion(store, "readings") == before
    assert sorted(Path(place.catalog).parent.rglob("*.yaml")) == files
