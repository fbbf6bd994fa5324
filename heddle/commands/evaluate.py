"""`heddle evaluate`: evaluate what has arrived on a stream, and report what it took."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from jobs.engine.warehouse.manifest import Manifest
    from jobs.runs.report import RunReport

LISTED = 40  # trees that are shown
MASTER = "local[*,4]"  # all cores; a task whose worker died is tried again, up to four times


def evaluate(
    folder: Annotated[Path, typer.Argument(metavar="CATALOG", help="The catalog's folder.")],
    stream: Annotated[str, typer.Option(help="The stream to evaluate.")],
    warehouse: Annotated[str, typer.Option(metavar="DIR", help="Where state and results are kept.")],
    plan: Annotated[str, typer.Option(metavar="FILE", help="A plan of heddle plan --out, else one is made.")] = "",
    champion: Annotated[bool, typer.Option("--champion", help="By the plan in force.")] = False,
    master: Annotated[str, typer.Option(help="The Spark to run on.")] = MASTER,
    lane: Annotated[str, typer.Option(help="How events are read: auto, file or frame.")] = "auto",
    files_per_batch: Annotated[int, typer.Option(help="Files of a batch; 0 takes all that have arrived.")] = 0,
    interval: Annotated[str, typer.Option(help="Keep running, a batch every so often, as in '10 seconds'.")] = "",
    local: Annotated[bool, typer.Option("--local", help="In this process, without Spark.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON, and nothing else.")] = False,
) -> None:
    """Evaluate what has arrived. Ctrl-C stops after the batch in hand; the next run carries on from there."""
    from jobs.runs.request import Options, Request, evaluate_request
    from jobs.spark.session import spark_session

    if champion:
        plan = _champion(folder, stream)
    request = Request(str(folder), stream, warehouse, plan, Options(lane, files_per_batch, interval))
    console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    with console.status("starting") as status:

        def progress(manifest: Manifest, seconds: float) -> None:
            line = _progress(manifest, seconds)
            if console.is_terminal:
                status.update(line)
            else:
                console.print(line)

        def start() -> SparkSession:
            session = spark_session(master)
            status.update("evaluating")
            return session

        report = evaluate_request(request, None if local else start, console.print, progress)
    if as_json:
        typer.echo(json.dumps(report.to_dict(), indent=1))
    else:
        _show(report, folder, warehouse)


def _champion(folder: Path, stream: str) -> str:
    from jobs.host.settings import settings
    from jobs.plans.champion import champion_file
    from optimizer.catalog.read.load import load_catalog

    catalog = load_catalog(folder)
    catalog.of_stream(stream)
    return champion_file(settings(), catalog, stream, typer.echo).path


def _progress(manifest: Manifest, seconds: float) -> str:
    counts = manifest.counts
    return f"batch {manifest.batch}: {counts['events']:,} events, {counts['results']:,} results, {seconds:.1f} s"


def _show(report: RunReport, folder: Path, warehouse: str) -> None:
    console = Console(highlight=False, markup=False, soft_wrap=True)
    if report.trees:
        console.print(_table(report))
    if report.step_seconds:
        steps = ", ".join(f"{step} {spent:.2f}" for step, spent in report.step_seconds.items())
        console.print(f"CPU seconds in tasks: {steps}")
    console.print(
        f"{report.events:,} events in {report.batches} batches, {report.results:,} results, "
        f"{report.late:,} late events ({report.windows_missed:,} windows missed); "
        f"{report.wall_seconds:.1f} s, {report.cpu_seconds:.1f} CPU seconds"
    )
    for query, count in report.unshared.items():
        console.print(f"{query} runs unshared, on plain Spark: {count:,} results")
    for note in report.notes:
        console.print(note)
    if report.without_time:
        console.print(f"{report.without_time:,} events have no time and were left out")
    console.print(_next(report.stream, folder, warehouse), style="dim")


def _next(stream: str, folder: Path, warehouse: str) -> str:
    from heddle.commands import COMMANDS

    check = f", or heddle check {folder} --stream {stream} --warehouse {warehouse}" if "check" in COMMANDS else ""
    return f"Next: heddle results {folder} QUERY --warehouse {warehouse}{check}"


def _table(report: RunReport) -> Table:
    table = Table(box=SIMPLE_HEAD, title=f"{report.stream}: {report.lane or 'no'} lane", title_justify="left")
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
