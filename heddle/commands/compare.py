"""`heddle compare`: the same events under several strategies and techniques, estimated and measured."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from heddle.commands.evaluate import MASTER, Master
from jobs.compare import make_comparison
from jobs.host.command_line import Folder, takes

if TYPE_CHECKING:
    from jobs.runs.compare import Compared, Comparison


@takes(make_comparison)
def compare(
    comparison: Comparison,
    folder: Folder,
    master: Master = MASTER,
    local: Annotated[bool, typer.Option("--local", help="In this process, without Spark.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was compared as JSON, and nothing else.")] = False,
) -> None:
    """Evaluate every pair of strategy and technique from scratch, and log one MLflow run each."""
    from jobs.host.settings import settings
    from jobs.runs.compare import compare as run
    from jobs.spark.session import spark_session
    from jobs.steps.submit import log_compared
    from jobs.tracking.store import open_store
    from optimizer.catalog.read.load import load_catalog

    catalog, store = load_catalog(folder), open_store(settings())
    console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    plans = run(catalog, comparison, None if local else lambda: spark_session(master), console.print)
    parent, deviation = log_compared(store, catalog, plans)
    if as_json:
        typer.echo(
            json.dumps({"run": parent, "deviation": deviation, "compared": [asdict(plan) for plan in plans]}, indent=1)
        )
    else:
        _show(plans, parent, deviation)


def _show(plans: list[Compared], parent: str, deviation: float) -> None:
    from jobs.steps.submit import verdict_of
    from optimizer.plan.definition import Plan

    table = Table(box=SIMPLE_HEAD, title="CPU milliseconds per 1,000 events", title_justify="left")
    for name in ("strategy", "technique"):
        table.add_column(name, overflow="fold")
    for name in ("trees", "CPU ms estimated", "measured"):
        table.add_column(name, justify="right", no_wrap=True)
    for compared in plans:
        plan, report = Plan.from_json(compared.plan), compared.report
        both = (report.get("estimated_seconds"), sum(report["step_seconds"].values()))
        costs = ["-" if seconds is None else f"{seconds / max(report['events'], 1) * 1e6:.3g}" for seconds in both]
        table.add_row(plan.strategy, compared.technique, str(len(plan.trees)), *costs)
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(table)
    console.print(f"estimated and measured throughput are {deviation:.1%} apart on average; MLflow run {parent}")
    console.print(verdict_of(plans))
