"""Other ways to the answers of a case than its warehouse: `heddle.run`, a rewritten plan, a backfill, an audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import heddle
from expectations.check import Choice, check
from jobs.results import read_results, results_table
from jobs.runs.backfill import backfill, past_of
from jobs.spark.session import in_zone
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError
from optimizer.rewrite import answer_types, rewrite
from optimizer.windows.window import BEGINNING, CUTTY, PAIRS
from tests.fuzz.whole_case import WholeCase
from tests.worlds.warehouse import STREAM

FOREVER = 1 << 62
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Evaluated:
    """A case whose warehouse has been written, and the events as plain Spark reads them."""

    spark: SparkSession  # in the zone of the stream
    case: WholeCase
    catalog: Catalog
    folder: Path
    frame: DataFrame
    until: int | None  # the watermark

    @property
    def warehouse(self) -> str:
        """Return where the answers are."""
        return str(self.folder / "warehouse")

    @property
    def statements(self) -> dict[str, str]:
        """Return the statements by their ids."""
        return {id: statement.sql for id, statement in self.case.statements.items()}

    @property
    def answered(self) -> list[str]:
        """Return the statements whose answers the warehouse has: one process leaves out what only Spark answers."""
        left_out = self.catalog.unshared(STREAM) if self.case.evaluation.lane == "local" else []
        return [id for id in self.statements if not any(query.startswith(id) for query in left_out)]


@dataclass(frozen=True)
class Answered:
    """Rows of a statement in the windows that end after the first time, up to the second."""

    id: str
    rows: Rows
    after: int = BEGINNING
    until: int = FOREVER


def run_arrow(evaluated: Evaluated) -> Iterator[Answered]:
    """Hand the events to `heddle.run` as a table of Arrow."""
    return _run_in_memory(evaluated, lambda table: table)


def run_polars(evaluated: Evaluated) -> Iterator[Answered]:
    """Hand the events to `heddle.run` as a table of polars."""
    return _run_in_memory(evaluated, pl.from_arrow)


def _run_in_memory(evaluated: Evaluated, convert: Callable[[pa.Table], Any]) -> Iterator[Answered]:
    if evaluated.case.zone != "UTC":  # the zone of a table without a catalog
        return
    events = convert(evaluated.frame.toArrow())
    for id, sql in evaluated.statements.items():
        try:
            answer = heddle.run(events, {id: sql})[id]
        except HeddleError as error:
            if "only Spark evaluates that" not in str(error):
                raise
            continue
        yield Answered(id, pa.table(answer).to_pylist())


def run_spark(evaluated: Evaluated) -> Iterator[Answered]:
    """Hand the events to `heddle.run` as a DataFrame of Spark."""
    if evaluated.case.zone == "UTC":
        answers = heddle.run(evaluated.frame, evaluated.statements, folder=str(evaluated.folder / "frames"))
        yield from (Answered(id, answer.toArrow().to_pylist()) for id, answer in answers.items())


def run_rewritten(evaluated: Evaluated) -> Iterator[Answered]:
    """Run the plan as plain Spark SQL."""
    catalog, session = evaluated.catalog, evaluated.spark.newSession()
    case = evaluated.case
    if case.evaluation.slicing == CUTTY:  # which SQL cannot have
        case = replace(case, evaluation=replace(case.evaluation, slicing=PAIRS))
    plan = case.plan(catalog, case.evaluation.strategies[-1])
    script = rewrite(catalog, plan, answer_types(catalog, STREAM))
    for sql in script.views:
        session.sql(sql)
    for id, sql in script.answers.items():
        yield Answered(id, session.sql(sql).toArrow().to_pylist())
    session.catalog.clearCache()


def run_backfill(evaluated: Evaluated) -> Iterator[Answered]:
    """Compute the later half of what was emitted into a warehouse of its own."""
    if evaluated.until is None:
        return
    case, into = evaluated.case, str(evaluated.folder / "backfilled")
    moments = sorted(row["ts"] for rows in case.batches for row in rows if row["ts"] is not None)
    after = min(moments[len(moments) // 3], evaluated.until - 1)
    plan = case.plan(evaluated.catalog, case.evaluation.strategies[-1])
    past = past_of(lambda: evaluated.spark, evaluated.catalog, plan, evaluated.warehouse)
    backfill(past, into, (after, evaluated.until))
    session = in_zone(evaluated.spark, case.zone)
    for id in evaluated.answered:
        try:
            rows = results_table(into, evaluated.catalog, id).to_pylist()
        except HeddleError as error:  # a HAVING that only Spark evaluates
            if "use read_results" not in str(error):
                raise
            rows = read_results(session, into, evaluated.catalog, id).toArrow().to_pylist()
        yield Answered(id, rows, after, evaluated.until)


def read_audited(evaluated: Evaluated) -> Iterator[Answered]:
    """Audit everything, which passes, and read what was published by Spark."""
    if evaluated.until is None:
        return
    outcome = check(evaluated.spark, evaluated.catalog, STREAM, evaluated.warehouse, Choice(everything=True))
    assert outcome.audit.passed, [one.to_dict() for one in outcome.audit.checks if one.blocks]
    session = in_zone(evaluated.spark, evaluated.case.zone)
    for id in evaluated.answered:
        read = read_results(session, evaluated.warehouse, evaluated.catalog, id)
        yield Answered(id, read.toArrow().to_pylist(), until=evaluated.until)


WAYS: dict[str, Callable[[Evaluated], Iterator[Answered]]] = {
    "arrow": run_arrow,
    "polars": run_polars,
    "a DataFrame": run_spark,
    "rewriting": run_rewritten,
    "a backfill": run_backfill,
    "an audit": read_audited,
}
