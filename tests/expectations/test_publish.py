"""Acting on a verdict: published or put away by one step, once, and never by a verdict that is out of date."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from expectations.publish import (
    HOUR,
    MOST_HOURS,
    act_on_verdict,
    hours_between,
    make_question,
    publish,
    require_passed,
    settle_question,
)
from heddle.main import app
from jobs.engine.warehouse.ledger import newest_ledger, require_audit
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.host.settings import Settings
from jobs.host.storage import Storage
from jobs.runs.in_process import evaluate_local
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING
from tests.worlds.platform import home, planned, write_events


@pytest.fixture
def place(tmp_path: Path) -> Settings:
    """A stream with one evaluated batch that waits for its audit."""
    found = home(tmp_path)
    Path(found.home, "data").mkdir()
    require_audit(storage(found))
    evaluated(found, 0)
    return found


def storage(place: Settings) -> Storage:
    return stream_storage(place.warehouse, "readings")


def evaluated(place: Settings, number: int) -> None:
    write_events(place, number)
    catalog = load_catalog(place.catalog)
    evaluate_local(catalog, planned(catalog), place.warehouse)


def batch_with(place: Settings, passed: bool, *more: dict[str, Any]) -> dict[str, Any]:
    """What the task is given: where the verdict is."""
    numbers = {"manifest": newest(storage(place)).sequence, "ledger": newest_ledger(storage(place)).sequence}
    checks = [{"name": "same rows on both sides", "passed": passed}, *more]
    verdict = {"passed": passed, "rows": 9, "windows": 3, "page": "index.html", "checks": checks, **numbers}
    file = Path(place.home, "verdict.json")
    file.write_text(json.dumps(verdict))
    return {"stream": "readings", "catalog": place.catalog, "warehouse": place.warehouse, "verdict": str(file)}


def test_what_passed_is_published_once(place: Settings) -> None:
    said: list[str] = []
    batch = batch_with(place, True)
    act_on_verdict(batch, said.append)
    ledger = newest_ledger(storage(place))
    assert ledger.published
    assert "batch 0 is published" in said[0]
    act_on_verdict(batch, said.append, "http://airflow.example")
    assert newest_ledger(storage(place)) == ledger
    assert said[1].endswith(f"http://airflow.example/heddle/audit/readings/{newest(storage(place)).sequence}")


def test_warnings_are_told_and_readers_hear_what_is_there(place: Settings) -> None:
    said: list[str] = []
    warning = {"name": "x is 0 or more", "passed": False, "severity": "warning", "failing": 2, "rows": 9}
    published = act_on_verdict(batch_with(place, True, warning), said.append)
    assert said[0] == "readings: warning: x is 0 or more does not hold in 2 of 9 rows"
    manifest = newest(storage(place))
    assert published["batches"] == [0]
    assert published["rows"] == sum(file.rows for file in manifest.results) > 0
    assert published["watermark"].startswith(f"{published['hour']}:")
    assert published["warnings"] == ["x is 0 or more"]


def test_results_say_why_there_are_none_yet(place: Settings) -> None:
    asked = ["results", place.catalog, "peak", "--warehouse", place.warehouse]
    said = CliRunner().invoke(app, asked, catch_exceptions=False).stdout
    assert said.startswith("no answers of peak to show: results wait for their audit; heddle check ")
    act_on_verdict(batch_with(place, True), lambda line: None)
    assert "window.end" in CliRunner().invoke(app, asked, catch_exceptions=False).stdout


def test_every_hour_is_told_once_when_it_is_whole() -> None:
    assert hours_between(HOUR // 2, 2 * HOUR) == ["1970-01-01T00:00:00", "1970-01-01T01:00:00"]
    assert hours_between(2 * HOUR, 3 * HOUR - 1) == []
    assert hours_between(BEGINNING, 5 * HOUR + 1) == []  # since when nobody knows
    assert len(hours_between(0, 1000 * HOUR)) == MOST_HOURS


def test_a_person_is_shown_the_failing_rows_and_decides(place: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEDDLE_HOME", place.home)
    said: list[str] = []
    row = {"query": "peak", "key": "a|b", "ours": 1, "spark": 2}
    wrong = {"name": "exact answers equal", "passed": False, "severity": "critical", "examples": [row]}
    question = make_question(act_on_verdict(batch_with(place, False, wrong), said.append))
    assert question["subject"] == "readings: batch 0 is quarantined. Release, discard or repair?"
    assert "| peak | a\\|b | 1 | 2 |" in question["body"]
    for choice in ("repair", "release", "discard"):
        answer = {"chosen_options": [choice], "responded_by_user": {"id": "1", "name": "ann"}}
        settle_question(question, answer, said.append)
    assert said == [
        "readings: batch 0 is to be repaired, says ann",
        "readings: batch 0 is published, says ann",
        "readings: batch 0 was decided meanwhile",
    ]
    assert newest_ledger(storage(place)).published


def test_several_batches_that_waited_are_published_together(place: Settings) -> None:
    said: list[str] = []
    evaluated(place, 1)
    act_on_verdict(batch_with(place, True), said.append)
    assert "batches 0, 1 are published" in said[0]


def test_what_failed_is_put_away_and_told_in_one_line(place: Settings) -> None:
    batch = batch_with(place, False)
    for _ in range(2):
        with pytest.raises(HeddleError, match=r"same rows.*batch 0 is quarantined") as caught:
            require_passed(act_on_verdict(batch, str))
        assert "\n" not in str(caught.value)
    ledger = newest_ledger(storage(place))
    assert ledger.quarantined
    assert not ledger.published
    assert ledger.sequence == 1


def test_a_verdict_says_nothing_of_batches_after_it(place: Settings) -> None:
    batch = batch_with(place, True)
    evaluated(place, 1)
    act_on_verdict(batch, str)
    assert newest_ledger(storage(place)).pending(newest(storage(place)).results)


def test_another_check_was_faster(place: Settings) -> None:
    verdict = json.loads(Path(batch_with(place, True)["verdict"]).read_text())
    evaluated(place, 1)
    later = json.loads(Path(batch_with(place, True)["verdict"]).read_text())
    publish(place.warehouse, "readings", verdict)
    with pytest.raises(HeddleError, match="another check"):
        publish(place.warehouse, "readings", later)
