"""The job that audits what waits to be published; `spark-submit expectations/audit.py --help` says how.

It decides nothing: the verdict is written to a file, and publishing is a step of its own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.host.command_line import Folder, run_job, takes
from jobs.host.say import say_to_stderr

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from expectations.check import Choice


Sample = Annotated[int, typer.Option(help="Emitted windows of each sampled statement that are recomputed.")]


@dataclass(frozen=True)
class AuditRequest:
    """Whose results are audited, and how many of the emitted windows of each sampled statement."""

    folder: Path
    stream: str
    warehouse: str
    sample: int


def make_audit_request(
    folder: Folder,
    stream: Annotated[str, typer.Option(help="The stream to audit.")],
    warehouse: Annotated[str, typer.Option(metavar="DIR", help="Where heddle evaluate keeps its results.")],
    sample: Sample = 5,
) -> AuditRequest:
    """Return what a command line asks to audit."""
    return AuditRequest(folder, stream, warehouse, sample)


VerdictFile = Annotated[str, typer.Option(metavar="FILE", help="Where the verdict goes, as JSON.")]
Statements = Annotated[int, typer.Option(help="Statements that are looked at: those not audited for the longest.")]


@takes(make_audit_request)
def audit(request: AuditRequest, verdict: VerdictFile, statements: Statements = 40) -> None:
    """Recompute a sample of the emitted windows on plain Spark, and write the verdict."""
    from expectations.check import Choice
    from jobs.spark.session import spark_session

    choice = Choice(request.sample, statements=statements)
    write_verdict(spark_session(), str(request.folder), request.stream, request.warehouse, choice, verdict)


def write_verdict(spark: SparkSession, folder: str, stream: str, warehouse: str, choice: Choice, verdict: str) -> None:
    """Audit what waits to be published, and write the verdict to a file."""
    from expectations.check import examine
    from optimizer.catalog.read.load import load_catalog

    outcome = examine(spark, load_catalog(folder), stream, warehouse, choice, say_to_stderr)
    Path(verdict).write_text(json.dumps(outcome.to_dict()))
    rows = f"{outcome.audit.rows:,} rows of {outcome.audit.statements} statements, {outcome.audit.windows:,} windows"
    say_to_stderr(f"{rows}: {outcome.audit.summary}")


if __name__ == "__main__":
    run_job(audit)
