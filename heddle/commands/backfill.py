"""`heddle backfill`: compute a past interval anew, into a warehouse of its own or as a repair."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from heddle.commands.evaluate import MASTER


def backfill(
    folder: Annotated[Path, typer.Argument(metavar="CATALOG", help="The catalog's folder.")],
    stream: Annotated[str, typer.Option(help="The stream whose past it is.")],
    warehouse: Annotated[str, typer.Option(metavar="DIR", help="The live warehouse.")],
    low: Annotated[str, typer.Option("--from", metavar="T", help="Windows that end after this time (UTC).")] = "",
    high: Annotated[str, typer.Option("--to", metavar="T", help="Windows that end up to this time.")] = "",
    into: Annotated[str, typer.Option(metavar="DIR", help="A warehouse of its own for the results.")] = "",
    repair: Annotated[bool, typer.Option("--repair", help="Compute the quarantined batches anew instead.")] = False,
    plan: Annotated[str, typer.Option(metavar="FILE", help="A plan of heddle plan --out, else the one in force.")] = "",
    master: Annotated[str, typer.Option(help="The Spark to run on.")] = MASTER,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON, and nothing else.")] = False,
) -> None:
    """Compute windows of the past from the raw events. The live state is never touched."""
    from jobs.backfill import Backfill
    from jobs.runs.request import Request
    from jobs.spark.session import spark_session

    console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    asked = Backfill(Request(str(folder), stream, warehouse, plan), low, high, into, repair)
    with console.status("computing"):
        outcome = asked.run(lambda: spark_session(master), console.print)
    if as_json:
        typer.echo(json.dumps(outcome, indent=1))
    else:
        _show(outcome, folder, stream, warehouse)


def _show(outcome: dict[str, Any], folder: Path, stream: str, warehouse: str) -> None:
    console = Console(highlight=False, markup=False, soft_wrap=True)
    if "repaired" in outcome:
        batches = ", ".join(map(str, outcome["repaired"]))
        console.print(f"repaired: batch {batches}, {outcome['results']:,} results, which wait for their audit")
        console.print(f"Next: heddle check {folder} --stream {stream} --warehouse {warehouse}", style="dim")
    else:
        console.print(f"{outcome['events']:,} events, {outcome['results']:,} results in {outcome['into']}")
        console.print(f"Next: heddle results {folder} QUERY --warehouse {outcome['into']}", style="dim")
