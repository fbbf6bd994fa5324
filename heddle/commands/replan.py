"""`heddle replan`: plan a stream from recent data, and put the plan in force if it is cheaper than the champion."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console

from jobs.host.command_line import Folder, Keys, Rate


def replan(
    folder: Folder,
    stream: Annotated[str, typer.Option(help="The stream to plan.")],
    strategy: Annotated[list[str] | None, typer.Option(help="How to search; may be given more than once.")] = None,
    technique: Annotated[str, typer.Option(help="measured, auto, or one technique for all trees.")] = "measured",
    rate: Rate = None,
    keys: Keys = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Log the plan, but do not register it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON, and nothing else.")] = False,
) -> None:
    """Measure the stream, plan it, compare with the champion, register and promote; MLflow remembers all of it."""
    from jobs.host.settings import settings
    from jobs.plans.replan import Wish
    from jobs.plans.replan import replan as run
    from jobs.tracking.store import open_store
    from optimizer.catalog.read.load import load_catalog
    from optimizer.planning.defaults import STRATEGY

    catalog = load_catalog(folder)
    wish = Wish(stream, tuple(strategy or [STRATEGY]), technique, rate, keys, not dry_run)
    console = Console(stderr=as_json, soft_wrap=True, highlight=False, markup=False)
    found = run(open_store(settings()), catalog, wish, console.print)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=1))
    else:
        console.print(f"Next: heddle evaluate {folder} --stream {stream} --warehouse DIR --champion", style="dim")
