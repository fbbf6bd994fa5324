"""Run the suites over the tables of an audit, quietly: a Checkpoint each, whose Action keeps suite and verdict.

A Checkpoint hands one and the same table to all its validation definitions, and every suite has a table of its own:
hence one of each per suite. The context is in memory, since a context in files costs more than the checks do; the
suites are written beside the audit's page in the format of Great Expectations, to be reviewed and loaded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import great_expectations as gx
import pandas as pd
from great_expectations.checkpoint import ActionContext, CheckpointResult, ValidationAction

from expectations.sides.row import Sides
from expectations.suites import SUITES
from expectations.suites.suite import Suite
from optimizer.catalog.model.query import CRITICAL
from optimizer.errors import HeddleError

LISTED = 20  # failing rows that are named, of each expectation
FOLDER = "suites"  # beside an audit's page


@dataclass(frozen=True)
class Check:
    """What came of one expectation."""

    suite: str
    name: str
    passed: bool
    rows: int
    failing: int
    examples: list[dict[str, Any]] = field(default_factory=list)
    severity: str = CRITICAL
    expected: str = ""  # in a sentence

    @property
    def blocks(self) -> bool:
        """Whether it keeps a batch from being published: only what is critical does, a warning is told."""
        return not self.passed and self.severity == CRITICAL

    @property
    def verdict(self) -> str:
        """The verdict of the expectation: nothing, where no row was there to look at."""
        if not self.passed:
            return "failed" if self.blocks else "warning"
        return "passed" if self.rows else "not applicable"

    def to_dict(self) -> dict[str, Any]:
        """Return the check as JSON takes it."""
        return asdict(self)


class KeepVerdict(ValidationAction):
    """Writes the suite that was run, and what came of every expectation, as two files of a folder."""

    type: Literal["heddle_keep_verdict"] = "heddle_keep_verdict"
    folder: str

    def run(
        self, checkpoint_result: CheckpointResult, action_context: ActionContext | None = None
    ) -> dict[str, list[str]]:
        """Write the files; return their names."""
        definitions = checkpoint_result.checkpoint_config.validation_definitions
        suites = {definition.suite.name: definition.suite for definition in definitions}
        files: dict[str, Any] = {}
        for result in checkpoint_result.run_results.values():
            name = result.suite_name.replace(" ", "_")
            files[f"{name}.json"] = _reviewable(suites[result.suite_name].to_json_dict())
            files[f"{name}.verdict.json"] = result.describe_dict()
        try:
            Path(self.folder).mkdir(parents=True, exist_ok=True)
            for file, content in files.items():
                Path(self.folder, file).write_text(json.dumps(content, indent=1, default=str))
        except OSError as error:
            raise HeddleError(f"{self.folder}: cannot be written ({error.strerror}); choose another --docs") from None
        return {"files": list(files)}


def _reviewable(suite: dict[str, Any]) -> dict[str, Any]:
    """Return a suite without the numbers that are drawn anew in every run, so that two of them can be compared."""
    plain = [{name: value for name, value in each.items() if name != "id"} for each in suite["expectations"]]
    return {**{name: value for name, value in suite.items() if name != "id"}, "expectations": plain}


def validate(
    sides: Sides, users: Mapping[str, Suite] | None = None, folder: str = ""
) -> tuple[list[Check], pd.DataFrame]:
    """Run all suites, the users' own among them; return what came of every expectation, and both answers side by side.

    Suites and verdicts are kept in a folder, where one is named."""
    context = quiet_context()
    context.data_sources.add_pandas("audit")
    checks: list[Check] = []
    suites = {**SUITES, **(users or {})}
    tables = {name: suite.table(sides) for name, suite in suites.items()}
    for name, suite in suites.items():
        if tables[name].empty:
            checks += [_untold(name, text, expectation) for text, expectation in suite.expectations.items()]
            continue
        try:
            result = _checkpoint(context, name, suite, folder).run(batch_parameters={"dataframe": tables[name]})
        except (HeddleError, OSError):
            raise
        except Exception as error:  # whatever a release of theirs raises: no verdict is no pass
            raise _failure(name, f"{type(error).__name__}: {error}") from None
        (validated,) = result.run_results.values()
        outcomes = {outcome.expectation_config.meta["name"]: outcome for outcome in validated.results}
        checks += [
            _check(name, text, outcomes[text], suite.example_columns, tables[name]) for text in suite.expectations
        ]
    return checks, tables["comparison"]


def _failure(name: str, reason: str) -> HeddleError:
    """Return what is told of an expectation, or a suite of them, that came to no verdict."""
    line = " ".join((reason.strip().splitlines() or ["for no reason it names"])[0].split())[:300]
    return HeddleError(f"Great Expectations failed at {name} ({line}); nothing is published; mend it, then audit again")


def quiet_context() -> Any:
    """Return a context that keeps nothing, reports to nobody and draws no progress bars."""
    context: Any = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    return context


def _checkpoint(context: Any, name: str, suite: Suite, folder: str) -> Any:
    whole = context.data_sources.get("audit").add_dataframe_asset(name).add_batch_definition_whole_dataframe("audited")
    named = [expectation.copy(update={"meta": {"name": text}}) for text, expectation in suite.expectations.items()]
    expected = context.suites.add(gx.ExpectationSuite(name, expectations=named))
    definition = context.validation_definitions.add(gx.ValidationDefinition(name=name, data=whole, suite=expected))
    result_format = {
        "result_format": "SUMMARY",
        "partial_unexpected_count": LISTED,
        "unexpected_index_column_names": list(suite.example_columns),
    }
    actions: list[ValidationAction] = [KeepVerdict(name="keep the verdict", folder=folder)] if folder else []
    return context.checkpoints.add(
        gx.Checkpoint(name=name, validation_definitions=[definition], actions=actions, result_format=result_format)
    )


def _untold(suite: str, name: str, expectation: Any) -> Check:
    """Return the check of a table without rows."""
    return Check(suite, name, True, 0, 0, [], expectation.severity.value, expectation.description or "")


def _check(suite: str, name: str, outcome: Any, example_columns: tuple[str, ...], frame: pd.DataFrame) -> Check:
    result, config = outcome.result, outcome.expectation_config
    if not result:
        raise _failure(f"{suite}, {name}", _message(outcome.exception_info))
    own = tuple(column for column in (config.kwargs.get("column"),) if column and suite not in SUITES)
    listed = result.get("partial_unexpected_index_list") or []
    examples = [{column: row[column] for column in dict.fromkeys((*example_columns, *own))} for row in listed]
    rows, failing = _rows_with_values(frame, config.kwargs), result.get("unexpected_count") or 0
    severity, expected = config.severity.value, config.description or ""
    return Check(suite, name, bool(outcome.success), rows, failing, examples, severity, expected)


def _message(info: Any) -> str:
    """Return the first message in what Great Expectations keeps of an exception, or of one for each metric."""
    kept = [info, *info.values()] if isinstance(info, Mapping) else []
    messages = (each.get("exception_message") for each in kept if isinstance(each, Mapping))
    return next((str(message) for message in messages if message), "")


def _rows_with_values(frame: pd.DataFrame, kwargs: dict[str, Any]) -> int:
    """Return how many rows an expectation says something of: those with a value in one of its two columns."""
    pair = [kwargs[name] for name in ("column_A", "column_B") if name in kwargs]
    return int(frame[pair].notna().any(axis=1).sum()) if pair else len(frame)
