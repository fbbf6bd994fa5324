"""`heddle evaluate`: evaluate what has arrived on a stream, and report what it took.

`heddle backfill`: compute a past interval anew, into a warehouse of its own or as a repair.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from heddle.commands.results import deliver_published
from jobs.backfill import make_backfill
from jobs.evaluate import make_request
from jobs.host.command_line import takes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from jobs.engine.warehouse.manifest import Manifest
    from jobs.runs.backfill import Backfill
    from jobs.runs.report import RunReport
    from jobs.runs.request import Request


LISTED = 40  # trees that are shown
MASTER = "local[*,4]"  # all cores; a task whose worker died is tried again, up to four times
Master = Annotated[str, typer.Option(help="The Spark to run on.")]


@takes(make_request)
def evaluate(
    request: Request,
    champion: Annotated[bool, typer.Option("--champion", help="By the plan in force.")] = False,
    master: Annotated[
        str, typer.Option(help=f"The Spark to run on, as {MASTER}; left out, few events need none.", show_default=False)
    ] = "",
    local: Annotated[bool, typer.Option("--local", help="In this process, without Spark.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON, and nothing else.")] = False,
) -> None:
    """Evaluate what has arrived. Ctrl-C stops after the batch in hand; the next run carries on from there."""
    if champion:
        request = replace(request, plan=_champion(request.catalog, request.stream))
    report = _run(request, master, local)
    if as_json:
        typer.echo(json.dumps(report.to_dict(), indent=1))
    else:
        _show(report, request)
    deliver_published(request.catalog, request.stream, request.warehouse)


def _run(request: Request, master: str, local: bool) -> RunReport:
    """Evaluate on Spark, or in this process where that was asked for or is enough; say how far it is."""
    from jobs.runs.report import print_batch
    from jobs.runs.request import evaluate_request, reason_for_one_process
    from jobs.spark.session import session_for

    why = "" if master or local else reason_for_one_process(request)
    console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    with console.status("starting") as status:

        def progress(manifest: Manifest, seconds: float) -> None:
            if request.options.interval:
                _deliver_batch(request)
            line = print_batch(manifest, seconds)
            if console.is_terminal:
                status.update(line)
            else:
                console.print(line)

        def start(working: bool) -> SparkSession:
            session = session_for(master or MASTER)(working)
            status.update("evaluating")
            return session

        if why:
            console.print(why)
        return evaluate_request(request, None if local or why else start, console.print, progress)


def _deliver_batch(request: Request) -> None:
    """Deliver a batch of a run that goes on; a sink that is wrong does not end it."""
    from optimizer.errors import HeddleError

    try:
        deliver_published(request.catalog, request.stream, request.warehouse)
    except HeddleError as mistake:
        typer.echo(str(mistake), err=True)


def _champion(folder: str, stream: str) -> str:
    from jobs.engine.sources import land_events
    from jobs.host.settings import settings
    from jobs.plans.replan import champion_file
    from jobs.spark.stream_frames import driver_of
    from optimizer.catalog.read.load import load_catalog

    catalog = load_catalog(folder)
    catalog.of_stream(stream)
    land_events(driver_of(catalog, stream))  # a first plan is by what has arrived, and by nothing that is not there
    return champion_file(settings(), catalog, stream, typer.echo).path


def _show(report: RunReport, request: Request) -> None:
    from jobs.runs.lanes import lane_lines

    console = Console(highlight=False, markup=False, soft_wrap=True)
    if not report.batches:
        console.print(f"{report.stream}: nothing new has arrived")
    elif report.trees:
        console.print(_table(report))
    if report.step_seconds:
        steps = ", ".join(f"{step} {seconds:.2f}" for step, seconds in report.step_seconds.items())
        estimate = f"; estimated {report.estimated_seconds:.2f}" if report.estimated_seconds is not None else ""
        console.print(f"CPU seconds in tasks: {sum(report.step_seconds.values()):.2f}{estimate} ({steps})")
    console.print(
        f"{report.events:,} events in {_many(report.batches, 'batch', 'batches')}, {report.results:,} results"
        f"{f' and {report.revisions:,} corrected' if report.revisions else ''}, "
        f"{report.late:,} late events ({report.windows_missed:,} windows missed); "
        f"{report.wall_seconds:.1f} s, {report.cpu_seconds:.1f} CPU seconds"
    )
    for line in lane_lines(report.queries):
        console.print(line)
    for query, count in report.unshared.items():
        console.print(f"{query} runs unshared, on plain Spark: {count:,} results")
    for note in report.notes:
        console.print(note)
    if report.without_time:
        console.print(f"{report.without_time:,} events have no time and were left out")
    console.print(_next(report.stream, request.catalog, request.warehouse), style="dim")


def _many(count: int, one: str, several: str) -> str:
    """Return a count with the right form of its noun.

    >>> _many(1, "batch", "batches"), _many(2, "batch", "batches")
    ('1 batch', '2 batches')
    """
    return f"{count:,} {one if count == 1 else several}"


def _next(stream: str, folder: str, warehouse: str) -> str:
    from heddle.commands import COMMANDS

    check = f", or heddle check {folder} --stream {stream} --warehouse {warehouse}" if "check" in COMMANDS else ""
    return f"Next: heddle results {folder} QUERY --warehouse {warehouse}{check}"


def _table(report: RunReport) -> Table:
    lanes = f"{report.lane} lanes" if " and " in report.lane else f"{report.lane or 'no'} lane"
    table = Table(box=SIMPLE_HEAD, title=f"{report.stream}: {lanes}", title_justify="left")
    for name in ("tree", "technique"):
        table.add_column(name, overflow="fold")
    for name in ("queries", "partials", "estimated operations", "counted"):
        table.add_column(name, justify="right")
    for name, tree in sorted(report.trees.items(), key=lambda item: -item[1]["operations"])[:LISTED]:
        numbers = (tree.get("queries", 0), tree["partials"], tree.get("estimated_operations", 0), tree["operations"])
        table.add_row(name, tree.get("technique", ""), *(f"{number:,}" for number in numbers))
    if len(report.trees) > LISTED:
        table.caption = f"the {LISTED} of {len(report.trees)} trees with the most operations"
    return table


@takes(make_backfill)
def backfill(
    past: Backfill,
    master: Master = MASTER,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON, and nothing else.")] = False,
) -> None:
    """Compute windows of the past from the raw events. The live state is never touched."""
    from jobs.spark.session import spark_session

    console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    with console.status("computing"):
        outcome = past.run(lambda: spark_session(master), console.print)
    if as_json:
        typer.echo(json.dumps(outcome, indent=1))
    else:
        _show_backfill(outcome, past.request)


def _show_backfill(outcome: dict[str, Any], request: Request) -> None:
    console = Console(highlight=False, markup=False, soft_wrap=True)
    if "repaired" in outcome:
        batches = ", ".join(map(str, outcome["repaired"]))
        console.print(f"repaired: batch {batches}, {outcome['results']:,} results, which wait for their audit")
        console.print(
            f"Next: heddle check {request.catalog} --stream {request.stream} --warehouse {request.warehouse}",
            style="dim",
        )
    else:
        console.print(f"{outcome['events']:,} events, {outcome['results']:,} results in {outcome['into']}")
        console.print(f"Next: heddle results {request.catalog} QUERY --warehouse {outcome['into']}", style="dim")
