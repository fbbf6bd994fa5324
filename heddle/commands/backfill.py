"""`heddle backfill`: compute a past interval anew, into a warehouse of its own or as a repair."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from heddle.commands.evaluate import MASTER, Master
from jobs.backfill import make_backfill
from jobs.host.command_line import takes

if TYPE_CHECKING:
    from jobs.runs.backfill import Backfill
    from jobs.runs.request import Request


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
        _show(outcome, past.request)


def _show(outcome: dict[str, Any], request: Request) -> None:
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
