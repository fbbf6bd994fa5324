"""Run the suites over the tables of an audit, quietly."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from string import Template
from typing import Any

import great_expectations as gx
from great_expectations.data_context.types.base import ProgressBarsConfig
from great_expectations.expectations.registry import get_expectation_impl
from pyspark.sql import DataFrame

from expectations.sides.row import Sides
from expectations.suites import SUITES
from expectations.suites.suite import Suite

PARTITIONS = 2  # a sample is small, and Great Expectations asks dozens of questions about it
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

    def to_dict(self) -> dict[str, Any]:
        """Return the check as JSON takes it."""
        return asdict(self)


def validate(sides: Sides) -> tuple[list[Check], dict[str, Any]]:
    """Run all suites; return the outcome of every expectation, and Great Expectations' own result of every suite."""
    context = quiet_context()
    source = context.data_sources.add_spark("audit")
    checks: list[Check] = []
    results: dict[str, Any] = {}
    for name, suite in SUITES.items():
        frame = suite.table(sides).coalesce(PARTITIONS).localCheckpoint()
        whole = source.add_dataframe_asset(name).add_batch_definition_whole_dataframe("sampled windows")
        results[name] = _run(whole, frame, name, suite)
        checks += _checks(name, suite, results[name])
    return checks, results


def quiet_context() -> Any:
    """Return a context that keeps nothing, reports to nobody and draws no progress bars."""
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return context


def _run(whole: Any, frame: DataFrame, name: str, suite: Suite) -> Any:
    result_format = {
        "result_format": "SUMMARY",
        "partial_unexpected_count": LISTED,
        "unexpected_index_column_names": list(suite.shown),
    }
    named = [expectation.copy(update={"meta": {"name": text}}) for text, expectation in suite.expectations.items()]
    batch = whole.get_batch({"dataframe": frame})
    return batch.validate(gx.ExpectationSuite(name, expectations=named), result_format=result_format)


def _checks(name: str, suite: Suite, result: Any) -> list[Check]:
    outcomes = {outcome.expectation_config.meta["name"]: outcome for outcome in result.results}
    return [_check(name, text, outcomes[text], suite.shown) for text in suite.expectations]


def _check(suite: str, name: str, outcome: Any, shown: tuple[str, ...]) -> Check:
    result = outcome.result
    if not result:
        raise RuntimeError(f"{name}: {outcome.exception_info}")
    listed = result.get("partial_unexpected_index_list") or []
    examples = [{column: row[column] for column in shown} for row in listed]
    return Check(
        suite,
        name,
        bool(outcome.success),
        result.get("element_count") or 0,
        result.get("unexpected_count") or 0,
        examples,
    )


def sentences(results: dict[str, Any]) -> dict[str, str]:
    """Return the sentence of every expectation, as its renderer words it for Data Docs."""
    texts = {}
    for result in results.values():
        for outcome in result.results:
            config = outcome.expectation_config
            shape = get_expectation_impl(config.type)
            content = shape._prescriptive_renderer(configuration=config)[0].string_template
            texts[config.meta["name"]] = Template(content["template"]).safe_substitute(content["params"])
    return texts
