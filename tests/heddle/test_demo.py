"""The first run: its catalog is understood, and its screen says what was measured and what was extrapolated."""

from __future__ import annotations

import io
import runpy
from pathlib import Path

import pytest
from rich.console import Console

from heddle.commands.demo import empty_folder
from heddle.demo.outcome import Outcome, difference_text, draw, show
from heddle.demo.world import EXAMPLE, SMALL, STREAM
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError


@pytest.fixture
def outcome() -> Outcome:
    report = {"events": 4_000_000, "batches": 2, "batch_seconds": [3.0, 1.0], "cpu_seconds": 10.0}
    report |= {"step_seconds": {"feed": 4.0}, "estimated_seconds": 5.0}
    peer = {"queries": ["a", "b"], "events": 400_000, "cpu_seconds": 6.0, "query": "a", "sql": "SELECT 1"}
    peer["rows"] = [{"machine": "m01", "window": "00:00:00 to 00:01:00", "Heddle": "1.5", "plain Spark": "1.5"}]
    verdicts = [{"rows": 30, "passed": True}, {"rows": 12, "passed": True}]
    return Outcome({STREAM: 100, SMALL: 12}, {STREAM: 9, SMALL: 3}, 0.75, [report], verdicts, peer)


def test_the_catalog_is_what_a_hundred_queries_look_like(tmp_path: Path) -> None:
    (tmp_path / "queries.yaml").write_text(runpy.run_path(str(EXAMPLE))["catalog"]())
    catalog = load_catalog(tmp_path)
    readings = catalog.of_stream(STREAM)
    assert len(set(readings.statements.to_pylist())) >= 100
    assert len({shape.group_by for shape in readings.shapes}) > 1
    assert not catalog.unshared(STREAM)


def test_only_the_folder_of_a_first_run_is_emptied(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(HeddleError, match="name another --out"):
        empty_folder(tmp_path)
    assert (tmp_path / "thesis.txt").exists()
    run = tmp_path / "run"
    empty_folder(run)
    (run / "events").mkdir()
    empty_folder(run)
    assert not (run / "events").exists()


def test_what_plain_spark_would_take_is_in_proportion(outcome: Outcome) -> None:
    assert outcome.extrapolated_seconds == 6.0 * (100 / 2) * (4_000_000 / 400_000)
    assert outcome.events_per_second == 2_000_000  # the first batch waits for Spark's workers


def test_rows_that_differ_are_told(outcome: Outcome) -> None:
    assert difference_text([{"Heddle": "1.5", "plain Spark": "1.25"}]).startswith("These rows differ by at most 2e-01")


def test_the_screen_tells_measured_from_extrapolated(outcome: Outcome, tmp_path: Path) -> None:
    text = io.StringIO()
    show(Console(file=text, width=80), outcome, Path("run"))
    lines = text.getvalue().splitlines()
    assert any("100 queries over readings in 9 shared trees" in line for line in lines)
    bars = [line.split() for line in lines if "events" in line and "█" in line]
    assert [bar[-1] for bar in bars] == ["measured", "measured", "extrapolated"]
    assert [bar[-2] for bar in bars] == ["10.0", "6.0", "3,000.0"]
    assert max(map(len, lines)) <= 80
    assert any("1/300 of the CPU" in line for line in lines)
    assert "what Spark took for 2 of them over 10% of the events" in " ".join(map(str.strip, lines))
    assert "engine's own tasks took 4.0 (5.0 estimated beforehand)" in " ".join(map(str.strip, lines))
    assert "These rows are equal to the last digit." in lines
    assert any("2 of 2 audits passed: 42 rows" in line for line in lines)
    draw(outcome, tmp_path / "chart.svg")
    assert "3,000.0" in (tmp_path / "chart.svg").read_text()  # matplotlib keeps what it draws as a comment
