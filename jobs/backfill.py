"""The job that computes a past interval anew; `spark-submit jobs/backfill.py --help` says how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobs.host.command_line import Folder, run_job, takes
from jobs.host.say import say_to_stderr

if TYPE_CHECKING:
    from jobs.runs.backfill import Backfill


def make_backfill(
    folder: Folder,
    stream: Annotated[str, typer.Option(help="The stream whose past it is.")],
    warehouse: Annotated[str, typer.Option(metavar="DIR", help="The live warehouse, only read unless --repair.")],
    low: Annotated[
        str, typer.Option("--from", metavar="T", help="Windows that end after this time (UTC); all when left out.")
    ] = "",
    high: Annotated[str, typer.Option("--to", metavar="T", help="Windows that end up to this time.")] = "",
    into: Annotated[str, typer.Option(metavar="DIR", help="For the results; WAREHOUSE-backfill when left out.")] = "",
    repair: Annotated[bool, typer.Option("--repair", help="Compute the quarantined batches anew instead.")] = False,
    plan: Annotated[str, typer.Option(metavar="FILE", help="A plan of heddle plan --out, else the one in force.")] = "",
) -> Backfill:
    """Return the backfill that a command line asks for."""
    from jobs.runs.backfill import Backfill
    from jobs.runs.request import Request

    return Backfill(Request(str(folder), stream, warehouse, plan), low, high, into, repair)


@takes(make_backfill)
def backfill(past: Backfill) -> dict[str, Any]:
    """Compute windows of the past from the raw events; the outcome is one line of JSON."""
    from jobs.spark.session import spark_session

    return past.run(spark_session, say_to_stderr)


if __name__ == "__main__":
    run_job(backfill)
