"""Run the suites over the tables of an audit, quietly."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from string import Template
from typing import Any

import great_expectations as gx
import pandas as pd
from great_expectations.data_context.types.base import ProgressBarsConfig
from great_expectations.expectations.registry import get_expectation_impl

from expectations.sides.row import Sides
from expectations.suites import SUITES
from expectations.suites.suite import Suite

LISTED = 20  # failing rows that are named, of each expectation


@dataclass(frozen=True)
class Check:
    """What came of one expectation."""

    suite: str
    name: str
    passed: bool
    rows: int
    failing: int
    examples: list[dict[str, Any]] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """What came of it: nothing, where no row was there to look at."""
        return "failed" if not self.passed else "passed" if self.rows else "not applicable"

    def to_dict(self) -> dict[str, Any]:
        """Return the check as JSON takes it."""
        return asdict(self)


def validate(sides: Sides) -> tuple[list[Check], pd.DataFrame]:
    """Run all suites; return the outcome of every expectation, and both answers side by side."""
    source = quiet_context().data_sources.add_pandas("audit")
    checks: list[Check] = []
    tables = {name: suite.table(sides) for name, suite in SUITES.items()}
    for name, suite in SUITES.items():
        if tables[name].empty:
            checks += [Check(name, text, True, 0, 0) for text in suite.expectations]
            continue
        whole = source.add_dataframe_asset(name).add_batch_definition_whole_dataframe("sampled windows")
        checks += _checks(name, suite, tables[name], _run(whole, tables[name], name, suite))
    return checks, tables["comparison"]


def quiet_context() -> Any:
    """Return a context that keeps nothing, reports to nobody and draws no progress bars."""
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return context


def _run(whole: Any, frame: pd.DataFrame, name: str, suite: Suite) -> Any:
    result_format = {
        "result_format": "SUMMARY",
        "partial_unexpected_count": LISTED,
        "unexpected_index_column_names": list(suite.shown),
    }
    named = [expectation.copy(update={"meta": {"name": text}}) for text, expectation in suite.expectations.items()]
    batch = whole.get_batch({"dataframe": frame})
    return batch.validate(gx.ExpectationSuite(name, expectations=named), result_format=result_format)


def _checks(name: str, suite: Suite, frame: pd.DataFrame, result: Any) -> list[Check]:
    outcomes = {outcome.expectation_config.meta["name"]: outcome for outcome in result.results}
    return [_check(name, text, outcomes[text], suite.shown, frame) for text in suite.expectations]


def _check(suite: str, name: str, outcome: Any, shown: tuple[str, ...], frame: pd.DataFrame) -> Check:
    result = outcome.result
    if not result:
        raise RuntimeError(f"{name}: {outcome.exception_info}")
    listed = result.get("partial_unexpected_index_list") or []
    examples = [{column: row[column] for column in shown} for row in listed]
    rows = _rows_with_values(frame, outcome.expectation_config.kwargs)
    return Check(suite, name, bool(outcome.success), rows, result.get("unexpected_count") or 0, examples)


def _rows_with_values(frame: pd.DataFrame, kwargs: dict[str, Any]) -> int:
    """Return how many rows an expectation says something of: those with a value in one of its two columns."""
    pair = [kwargs[name] for name in ("column_A", "column_B") if name in kwargs]
    return int(frame[pair].notna().any(axis=1).sum()) if pair else len(frame)


def sentences() -> dict[str, str]:
    """Return the sentence of every expectation, as its renderer words it for Data Docs."""
    texts = {}
    for suite in SUITES.values():
        for name, expectation in suite.expectations.items():
            config = expectation.configuration
            content = get_expectation_impl(config.type)._prescriptive_renderer(configuration=config)[0].string_template
            texts[name] = Template(content["template"]).safe_substitute(content["params"])
    return texts
