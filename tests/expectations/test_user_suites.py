"""The users' own expectations: of answers in memory, by severity, and of a batch's events on Spark."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from pyspark.sql import SparkSession

from expectations.check import Audit, Choice, check
from expectations.sides.row import COLUMNS, NAIVE_COLUMNS, Sides
from expectations.suites.validate import validate
from expectations.user_suites import _answer_suite, judge_answers
from jobs.engine.warehouse.ledger import require_audit
from jobs.results import results_table
from optimizer.catalog.model.query import CRITICAL, WARNING, Expectation
from optimizer.catalog.read.load import load_catalog
from tests.worlds.audited import QUERIES, STREAM, AuditedWorld, make_world

NOTHING = Sides(pd.DataFrame(columns=list(COLUMNS)), pd.DataFrame(columns=list(NAIVE_COLUMNS)))


def answers(*values: tuple[str, int, Any]) -> pd.DataFrame:
    """Answers of windows of 10, by key and start."""
    rows = [("q", "sum", "", key, start, start + 10, 0, False, None, value) for key, start, value in values]
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)


def test_a_change_is_against_the_window_before_of_the_same_key() -> None:
    rows = answers(("a", 10, 4.0), ("a", 20, 6.0), ("b", 20, 6.0), ("a", 40, 9.0), ("b", 30, None), ("a", 50, 9.0))
    judged = judge_answers(rows, slide=10, since=25)
    told = [
        (key, value, change)
        for key, value, change in zip(*(judged[c] for c in ("key", "value", "change")), strict=True)
    ]
    assert told == [("a", 6.0, 0.5), ("a", 9.0, None), ("a", 9.0, 0.0), ("b", 6.0, None), ("b", None, None)]


@pytest.mark.parametrize(("severity", "passed"), [(CRITICAL, False), (WARNING, True)])
def test_only_what_is_critical_keeps_a_batch_back(severity: str, passed: bool, tmp_path: Path) -> None:
    table = judge_answers(answers(("a", 0, 4.0), ("a", 10, 40.0), ("b", 10, 1.0)), 10, -1)
    expected = [
        Expectation("range", "", 0, 10, severity=severity),
        Expectation("change", "", high=20, severity=CRITICAL),
    ]
    checks, _ = validate(NOTHING, {"query q": _answer_suite("q", table, expected)}, str(tmp_path / "suites"))
    audit = Audit(STREAM, 1, 1, 1, checks)
    assert audit.passed is passed
    broken, held = checks[-2:]
    assert (broken.verdict, broken.failing, broken.rows) == ("failed" if severity == CRITICAL else "warning", 1, 3)
    assert broken.examples == [
        {"query": "q", "key": "a", "window": broken.examples[0]["window"], "ours": "40.0", "value": 40.0}
    ]
    assert held.verdict == "passed"
    suite = json.loads((tmp_path / "suites" / "query_q.json").read_text())
    assert suite["expectations"][0]["severity"] == severity
    assert suite["expectations"][0]["kwargs"] == {"column": "value", "min_value": 0.0, "max_value": 10.0}
    verdict = json.loads((tmp_path / "suites" / "query_q.verdict.json").read_text())
    assert verdict["success"] is False


def expect(world: AuditedWorld, events: list[dict[str, Any]], total: list[dict[str, Any]]) -> AuditedWorld:
    """Write expectations into the catalog of a world."""
    file = next(Path(world.folder, "catalog").glob("*.y*ml"))
    content = yaml.safe_load(file.read_text())
    content["streams"][STREAM]["expect"] = events
    content["queries"] = [{**query, "expect": total} if query["id"] == "total" else query for query in QUERIES]
    file.write_text(yaml.safe_dump(content))
    return replace(world, catalog=load_catalog(file.parent))


def test_events_and_answers_are_looked_at_with_the_audit(spark: SparkSession, tmp_path: Path) -> None:
    """Two batches: the first as expected but for warnings, the second too large and with an answer out of range."""
    world = make_world(tmp_path)
    told = [{"column": "n", "nulls": 0}, {"column": "k", "set": ["a"]}, {"freshness": "1 hour"}]
    warnings = [{**each, "severity": WARNING} for each in told]
    world = expect(world, [*warnings, {"column": "n", "range": [0, 8]}, {"volume": [1, 40]}], [{"range": [0, 10_000]}])
    require_audit(world.storage)
    world.arrive(0, seed=0)
    world.arrive(1, seed=1)
    world.evaluate(files_per_batch=1)
    outcome = check(spark, world.catalog, STREAM, world.warehouse, Choice(sample=1))
    verdicts = {each.name: each.verdict for each in outcome.audit.checks if each.suite in ("events", "query total")}
    assert verdicts == {
        "n is null in at most 0 of the events": "warning",
        "k is one of a": "warning",
        "the newest event is at most 1 hour old": "warning",
        "n is 0 to 8": "passed",
        "the events of a batch are 1 to 40": "passed",
        "total: an answer is 0 to 10000": "passed",
    }
    assert outcome.published
    nulls = next(each for each in outcome.audit.checks if each.name.startswith("n is null"))
    assert [row["batch"] for row in nulls.examples] == [0, 1]
    seen = results_table(world.warehouse, world.catalog, "total").num_rows

    world = expect(world, [{"volume": [None, 10]}], [{"range": [0, 1]}])
    world.arrive(2, seed=2)
    world.evaluate()
    outcome = check(spark, world.catalog, STREAM, world.warehouse, Choice(sample=1))
    failed = {each.name: each for each in outcome.audit.checks if not each.passed}
    assert list(failed) == ["total: an answer is 0 to 1", "the events of a batch are 10 or less"]
    assert [row["batch"] for row in failed["the events of a batch are 10 or less"].examples] == [2]
    assert outcome.audit.summary == "as plain Spark has them, but NOT as the catalog expects"
    assert outcome.quarantined == [2]
    assert results_table(world.warehouse, world.catalog, "total").num_rows == seen
