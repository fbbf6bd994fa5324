"""`heddle compare`, without Spark: every pair of strategy and technique is evaluated, shown and logged."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from heddle.main import app
from jobs.host.settings import Settings
from jobs.runs.compare import first_of_each
from jobs.tracking.comparisons import deviation_text
from jobs.tracking.past import run_rows
from jobs.tracking.store import Store
from tests.worlds.platform import catalog_of, planned, write_events


def test_one_line_and_one_run_a_plan(place: Settings, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEDDLE_HOME", place.home)
    Path(place.home, "data").mkdir()
    write_events(place, 0)
    asked = ["--strategy", "no_share", "--strategy", "shared", "--technique", "two_stacks_block", "--local"]
    said = CliRunner().invoke(app, ["compare", place.catalog, "--stream", "readings", *asked], catch_exceptions=False)
    *lines, verdict = said.stdout.splitlines()
    assert " times as fast as " in verdict or " takes " in verdict
    assert "CPU s" in verdict
    assert [line.split()[:2] for line in lines if "two_stacks_block" in line] == [
        ["no_share", "two_stacks_block"],
        ["shared", "two_stacks_block"],
    ]
    (parent,) = run_rows(store, "readings", "comparison")
    assert f"{deviation_text(parent['metrics'].get('deviation'))}; MLflow run {parent['run']}" in said.stdout
    runs = run_rows(store, "readings", "comparison_run")
    assert [row["metrics"]["events"] for row in runs] == [600, 600]


def test_every_technique_is_warmed_by_its_first_plan(place: Settings) -> None:
    catalog = catalog_of(place)
    plans = [(t, planned(catalog, s, t)) for s in ("no_share", "shared") for t in ("panes", "two_stacks_block")]
    warmed = first_of_each(plans)
    assert list(warmed) == ["panes", "two_stacks_block"]
    assert {plan.strategy for plan in warmed.values()} == {"no_share"}
