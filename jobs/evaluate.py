"""The job that evaluates what has arrived on a stream; `spark-submit jobs/evaluate.py --help` says how."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobs.host.command_line import Folder, run_job, takes
from jobs.host.say import say_to_stderr

if TYPE_CHECKING:
    from jobs.runs.request import Request


def make_request(
    folder: Folder,
    stream: Annotated[str, typer.Option(help="The stream to evaluate.")],
    warehouse: Annotated[str, typer.Option(metavar="DIR", help="Where state and results are kept.")],
    plan: Annotated[str, typer.Option(metavar="FILE", help="A plan of heddle plan --out, else one is made.")] = "",
    lane: Annotated[str, typer.Option(help="How events are read: auto, file or frame.")] = "auto",
    files_per_batch: Annotated[int, typer.Option(help="Files of a batch; 0 takes all that have arrived.")] = 0,
    interval: Annotated[str, typer.Option(help="Keep running, a batch every so often, as in '10 seconds'.")] = "",
) -> Request:
    """Return the request that a command line asks for."""
    from jobs.runs.request import Options, Request

    return Request(str(folder), stream, warehouse, plan, Options(lane, files_per_batch, interval))


@takes(make_request)
def evaluate(
    request: Request, report: Annotated[str, typer.Option(metavar="FILE", help="Also write the report here.")] = ""
) -> dict[str, Any]:
    """Evaluate what has arrived on a stream; the report is one line of JSON."""
    from jobs.runs.report import print_batch
    from jobs.runs.request import evaluate_request
    from jobs.sinks.deliver import deliver
    from jobs.spark.session import session_for
    from optimizer.catalog.read.load import load_catalog

    run = evaluate_request(request, session_for(), say_to_stderr, lambda *batch: say_to_stderr(print_batch(*batch)))
    if report:
        Path(report).write_text(json.dumps(run.to_dict()))
    for alert in deliver(load_catalog(request.catalog), request.stream, request.warehouse, say_to_stderr):
        say_to_stderr(f"alert: {alert.line}")
    return run.to_dict()


if __name__ == "__main__":
    run_job(evaluate)
