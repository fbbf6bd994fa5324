"""The job of a scheduled micro-batch: it evaluates, then audits in the same Spark session.

`spark-submit expectations/micro_batch.py --help` says how. It publishes nothing: the verdict is written to a file, and
what comes of it is a step of its own.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer

from expectations.audit import Sample, Statements, VerdictFile, write_verdict
from jobs.evaluate import make_request
from jobs.host.command_line import run_job, takes
from jobs.host.say import say_to_stderr

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from jobs.runs.request import Request


@takes(make_request)
def micro_batch(
    request: Request,
    report: Annotated[str, typer.Option(metavar="FILE", help="Where the evaluation's report goes, as JSON.")],
    verdict: VerdictFile,
    sample: Sample = 5,
    statements: Statements = 40,
) -> None:
    """Evaluate what has arrived, recompute a sample of the emitted windows on plain Spark, and write the verdict."""
    from jobs.runs.report import print_batch
    from jobs.runs.request import evaluate_request
    from jobs.spark.session import spark_session

    run = evaluate_request(request, start_spark, say_to_stderr, lambda *batch: say_to_stderr(print_batch(*batch)))
    # a job that is tried again finds its batches committed: the report of the first attempt counts
    if run.batches or not Path(report).exists():
        Path(report).write_text(json.dumps(run.to_dict()))
    from expectations.check import Choice

    choice = Choice(sample, statements=statements, brief=True)  # an audit shall not cost more than the work
    write_verdict(spark_session(), request.catalog, request.stream, request.warehouse, choice, verdict)


def start_spark(working: bool) -> SparkSession:
    """Start Spark, and import meanwhile what the audit needs: the one is Java's work, the other Python's.

    Both have ended before anything is evaluated, so that its CPU seconds are its own.
    """
    from jobs.spark.session import session_for

    import_module("pyspark.sql")  # a circle of modules, of which two threads would each hold a half
    audit = Thread(target=import_module, args=("expectations.check",))
    audit.start()
    try:
        return session_for()(working)
    finally:
        audit.join()


if __name__ == "__main__":
    run_job(micro_batch)
