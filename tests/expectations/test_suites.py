"""Every expectation passes good answers and fails exactly the defect that is planted for it."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from expectations import suites
from expectations.check import Audit
from expectations.data_docs import page
from expectations.sides.row import COLUMNS, NAIVE_COLUMNS, Sides
from expectations.suites import SUITES
from expectations.suites.suite import Suite, close
from expectations.suites.validate import Check, validate

FOLDER = Path(suites.__file__).parent
Row = tuple[Any, ...]
DEFECTS = {
    "same rows on both sides": ("lost", "invented"),
    "exact answers equal": ("wrong", "null_for_value"),
    "float answers close": ("drifted", "poisoned"),
    "one row per query, key and window": ("doubled",),
    "windows aligned to their slide": ("crooked",),
    "every row has its window": ("nowhere",),
    "no count is null": ("uncounted",),
    "no count below 0": ("negative",),
    "min at most avg": ("low_mean_avg, low_mean_max, low_mean_min",),
    "avg at most max": ("high_mean_avg, high_mean_max, high_mean_min",),
    "min at most max": ("upside_down_max, upside_down_min",),
}


def row(query: str, text: str | None = None, number: float | None = None, **other: Any) -> Row:
    """An answer of the window from 10 to 20."""
    held = {"aggregate": "sum", "about": "", "key": '{"k":null}', "start": 10, "past_edge": 0, **other}
    end = None if held["start"] is None else held["start"] + 10
    names = ("aggregate", "about", "key", "start")
    return (query, *(held[name] for name in names), end, held["past_edge"], False, text, number)


def level(about: str, low: float, mean: float, high: float) -> list[Row]:
    """Three queries over the same events."""
    told = {"min": low, "avg": mean, "max": high}
    return [
        row(f"{about}_{name}", *((None, value) if name == "avg" else (str(value), None)), aggregate=name, about=about)
        for name, value in told.items()
    ]


GOOD = [
    row("whole", "7"),
    row("whole", None, key="{}"),
    row("real", number=0.1),
    row("real", number=math.nan, start=20),
    row("real", number=-math.inf, start=30),
    row("real", None, start=40),
    row("many", "0", aggregate="count"),
    *level("flat", 0.1, 0.1 + 1e-16, 0.1),
    *level("odd", -1.0, math.nan, math.inf),
    row("newest", "b", aggregate="last"),
    row("cancelled", number=3e-8),
]
SPARKS_CHOICE = {"newest": row("newest", "a", aggregate="last"), "cancelled": row("cancelled", number=1e-8)}
PLANTED_OURS = [
    row("invented", "1"),
    row("wrong", "9007199254740993"),
    row("null_for_value", None),
    row("drifted", number=1.0 + 1e-8),
    row("poisoned", number=math.nan),
    row("doubled", "1"),
    row("doubled", "1"),
    row("crooked", "1", past_edge=3),
    row("nowhere", "1", start=None),
    row("uncounted", None, aggregate="count"),
    row("negative", "-1", aggregate="count"),
    *level("low_mean", 1.0, 0.5, 2.0),
    *level("high_mean", 1.0, 3.0, 2.0),
    row("upside_down_min", "2.0", aggregate="min", about="upside_down"),
    row("upside_down_max", "1.0", aggregate="max", about="upside_down"),
]
DIFFERENT = {
    "wrong": row("wrong", "9007199254740992"),
    "null_for_value": row("null_for_value", "0"),
    "drifted": row("drifted", number=1.0),
    "poisoned": row("poisoned", number=math.inf),
}
SAME = [mine for mine in dict.fromkeys(PLANTED_OURS) if mine[0] not in {*DIFFERENT, "invented"}]


def sides(ours: list[Row], naive: list[Row]) -> Sides:
    theirs = [
        (*each, ["a", "b"] if each[0] == "newest" else None, 1e6 if each[0] == "cancelled" else 0.0) for each in naive
    ]
    return Sides(
        pd.DataFrame(ours, columns=list(COLUMNS), dtype=object),
        pd.DataFrame(theirs, columns=list(NAIVE_COLUMNS), dtype=object),
    )


@pytest.fixture(scope="module")
def found() -> tuple[dict[str, Check], Audit]:
    """One audit of all good answers and all defects: what fails tells which query it failed for."""
    naive = [*(SPARKS_CHOICE.get(each[0], each) for each in GOOD), *SAME, *DIFFERENT.values(), row("lost", "1")]
    checks, _ = validate(sides(GOOD + PLANTED_OURS, naive))
    return {check.name: check for check in checks}, Audit("events", 1, 1, 1, checks)


def test_good_answers_pass_and_what_has_no_rows_says_nothing() -> None:
    good = [each for each in GOOD if each[1] == "sum"]
    checks, pairs = validate(sides(good, [SPARKS_CHOICE.get(each[0], each) for each in good]))
    assert len(pairs) == len(good)
    assert all(check.passed for check in checks)
    verdicts = {check.name: check.verdict for check in checks}
    assert verdicts["exact answers equal"] == "passed"
    assert verdicts["no count is null"] == verdicts["min at most max"] == "not applicable"


def test_every_expectation_has_its_defect() -> None:
    assert list(DEFECTS) == [name for suite in SUITES.values() for name in suite.expectations]


def test_every_module_with_a_suite_is_in_the_table_under_its_own_name() -> None:
    modules = [importlib.import_module(f"expectations.suites.{path.stem}") for path in FOLDER.glob("[a-z]*.py")]
    suites = {name.lower(): value for each in modules for name, value in vars(each).items() if isinstance(value, Suite)}
    assert suites == SUITES, "a suite is a Suite in one of the modules and a line in SUITES"


@pytest.mark.parametrize("name", DEFECTS)
def test_an_expectation_fails_its_defect_and_nothing_else(name: str, found: tuple[dict[str, Check], Audit]) -> None:
    check = found[0][name]
    assert not check.passed
    assert {example["query"] for example in check.examples} == set(DEFECTS[name])
    assert check.rows > check.failing


def test_the_page_names_the_failing_rows_and_loads_nothing(found: tuple[dict[str, Check], Audit]) -> None:
    text = page(found[1])
    assert "9007199254740993" in text
    assert "9007199254740992" in text
    assert "the number must equal Spark&#x27;s within 1e-09 of it" in text
    assert not any(word in text for word in ("http://", "https://", "<script", "src="))


def test_tolerance_is_for_finite_numbers_only() -> None:
    nan, inf = math.nan, math.inf
    cases = [
        (1.0, 1.0 + 1e-10, True), (1.0, 1.0 + 1e-8, False), (0.0, -0.0, True), (0.0, 1e-13, True),
        (nan, nan, True), (nan, 1.0, False), (1.0, nan, False), (inf, inf, True), (inf, -inf, False),
        (inf, 5.0, False), (5.0, inf, False), (None, None, True), (None, 1.0, False), (nan, None, False),
    ]  # fmt: skip
    assert [(a, b) for a, b, same in cases if close(a, b, 1e-9, 1e-12) != same] == []


def test_a_page_has_keys_and_both_sides_in_words() -> None:
    row = {"query": "peak", "key": '{"machine": "<b>"}', "window": "00:00 to 00:01", "ours": "1", "spark": "2"}
    odd = {**row, "key": None}
    text = page(Audit("readings", 1, 1, 2, [Check("comparison", "answers are equal", False, 2, 2, [row, odd])]))
    assert "<td>machine &lt;b&gt;</td>" in text
    assert "<td>None</td>" in text
    assert "<th>Heddle</th><th>plain Spark</th>" in text
