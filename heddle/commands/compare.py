"""`heddle compare`: the same events under several strategies and techniques, estimated and measured."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from heddle.commands.evaluate import MASTER
from optimizer.planning.defaults import COMPARED_STRATEGIES, TECHNIQUE

if TYPE_CHECKING:
    from jobs.runs.compare import Compared


def compare(
    folder: Annotated[Path, typer.Argument(metavar="CATALOG", help="The catalog's folder.")],
    stream: Annotated[str, typer.Option(help="The stream whose events are evaluated.")],
    strategy: Annotated[list[str] | None, typer.Option(help="Give it more than once.")] = None,
    technique: Annotated[list[str] | None, typer.Option(help="Give it more than once.")] = None,
    rate: Annotated[float | None, typer.Option(help="Events per second; measured when left out.")] = None,
    keys: Annotated[float | None, typer.Option(help="Keys active in a slice; measured when left out.")] = None,
    files: Annotated[int, typer.Option(help="Only so many of the oldest files; 0 takes all.")] = 0,
    master: Annotated[str, typer.Option(help="The Spark to run on.")] = MASTER,
    local: Annotated[bool, typer.Option("--local", help="In this process, without Spark.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was compared as JSON, and nothing else.")] = False,
) -> None:
    """Evaluate every pair of strategy and technique from scratch, and log one MLflow run each."""
    from jobs.host.settings import settings
    from jobs.runs.compare import Comparison
    from jobs.runs.compare import compare as run
    from jobs.spark.session import spark_session
    from jobs.steps.log_runs import log_compared
    from jobs.tracking.store import open_store
    from optimizer.catalog.read.load import load_catalog

    catalog = load_catalog(folder)
    asked = Comparison(
        stream, tuple(strategy or COMPARED_STRATEGIES), tuple(technique or [TECHNIQUE]), rate, keys, files
    )
    console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    found = run(catalog, asked, None if local else lambda: spark_session(master), console.print)
    parent, deviation = log_compared(open_store(settings()), catalog, found)
    if as_json:
        typer.echo(
            json.dumps({"run": parent, "deviation": deviation, "compared": [asdict(c) for c in found]}, indent=1)
        )
    else:
        _show(found, parent, deviation)


def _show(found: list[Compared], parent: str, deviation: float) -> None:
    from jobs.tracking.evaluations import engine_seconds
    from optimizer.plan.definition import Plan

    table = Table(box=SIMPLE_HEAD)
    for name in ("strategy", "technique"):
        table.add_column(name, overflow="fold")
    for name in ("trees", "cost", "events/s", "CPU s"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in found:
        plan, report = Plan.from_json(each.plan), each.report
        speed = report["events"] / max(engine_seconds(report), 1e-9)
        figures = (str(len(plan.trees)), f"{plan.cost:,.5g}", f"{speed:,.0f}", f"{report['cpu_seconds']:.2f}")
        table.add_row(plan.strategy, each.technique, *figures)
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(table)
    console.print(f"estimated and measured throughput are {deviation:.1%} apart on average; MLflow run {parent}")
