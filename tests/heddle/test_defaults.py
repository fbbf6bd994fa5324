"""Commands that plan with nothing named agree: `heddle plan` shows what `heddle evaluate` runs."""

from __future__ import annotations

import shutil
from inspect import signature
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heddle.commands.plan import plan as plan_command
from heddle.main import app
from jobs.generate import generate
from jobs.generate.draws import Options
from jobs.measure.stream import recent_by
from jobs.plans.replan import Wish, candidates
from jobs.runs.compare import Comparison, plans_of
from jobs.runs.request import Request
from optimizer import Plan, optimize
from optimizer.catalog.read.load import load_catalog
from optimizer.plan.definition import Traffic
from optimizer.planning.choices import ASSUMED_RATE, COMPARED_STRATEGIES, STRATEGY, STRATEGY_NAMES, TECHNIQUE
from optimizer.planning.stream import plan_stream
from optimizer.strategies import STRATEGIES

CATALOG = Path(__file__).parents[2] / "examples" / "catalog"


def shown_plan(folder: Path, stream: str) -> Plan:
    result = CliRunner().invoke(app, ["plan", str(folder), "--stream", stream, "--json"], catch_exceptions=False)
    return Plan.from_json(result.stdout)


def evaluated_plan(folder: Path, stream: str, warehouse: Path) -> Plan:
    return Request(str(folder), stream, str(warehouse)).load_catalog_and_plan(lambda line: None)[1]


@pytest.fixture(params=["with events", "before the first event"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    shutil.copytree(CATALOG, tmp_path / "catalog")
    (tmp_path / "data" / "trades").mkdir(parents=True)
    if request.param == "with events":
        generate("trades", Options(events=5_000, rate=50.0, keys=20), tmp_path / "data" / "trades", lambda rows: None)
    return tmp_path / "catalog"


def test_plan_shows_what_evaluate_runs(folder: Path, tmp_path: Path) -> None:
    shown = shown_plan(folder, "trades")
    assert shown.to_json() == evaluated_plan(folder, "trades", tmp_path / "warehouse").to_json()
    assert shown.strategy == STRATEGY
    assert {demand.technique for tree in shown.trees for demand in tree.demands} <= {TECHNIQUE, ""}


def test_compare_and_replan_make_the_plan_that_is_shown(folder: Path) -> None:
    shown, catalog = shown_plan(folder, "trades"), load_catalog(folder)
    asked = Comparison("trades", (COMPARED_STRATEGIES[-1],), (TECHNIQUE,))
    assert [plan.to_json() for _, plan in plans_of(catalog, asked, None)] == [shown.to_json()]
    wish, recent = Wish("trades"), recent_by(None, catalog, "trades")
    traffic = Traffic(shown.rate, shown.keys, shown.traffic.ticks)
    best = candidates(catalog, "trades", traffic, wish.strategies, wish.technique, None, recent).best
    assert best.to_json() == shown.to_json()


def test_every_signature_has_the_defaults() -> None:
    for function in (optimize, plan_stream, plan_command):
        parameters = signature(function).parameters
        assert (parameters["strategy"].default, parameters["technique"].default) == (STRATEGY, TECHNIQUE)
    assert Wish("trades").strategies == (STRATEGY,)
    assert COMPARED_STRATEGIES[-1] == STRATEGY


def test_a_stream_without_files_has_the_assumed_rate(tmp_path: Path) -> None:
    shutil.copytree(CATALOG, tmp_path / "catalog")
    assert shown_plan(tmp_path / "catalog", "trades").rate == ASSUMED_RATE


def test_the_help_lists_every_strategy() -> None:
    assert set(STRATEGY_NAMES) == set(STRATEGIES)
