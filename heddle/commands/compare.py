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
    from jobs.steps.compare_strategies import log_compared
    from jobs.tracking.store import open_store
    from optimizer.catalog.read.load import load_catalog

    catalog = load_catalog(folder)
    console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    plans = run(catalog, comparison, None if local else lambda: spark_session(master), console.print)
    parent, deviation = log_compared(open_store(settings()), catalog, plans)
    if as_json:
        typer.echo(
            json.dumps({"run": parent, "deviation": deviation, "compared": [asdict(plan) for plan in plans]}, indent=1)
        )
    else:
        _show(plans, parent, deviation)


def _show(plans: list[Compared], parent: str, deviation: float) -> None:
    from jobs.tracking.evaluations import engine_seconds
    from optimizer.plan.definition import Plan

    table = Table(box=SIMPLE_HEAD)
    for name in ("strategy", "technique"):
        table.add_column(name, overflow="fold")
    for name in ("trees", "cost", "events/s", "CPU s"):
        table.add_column(name, justify="right", no_wrap=True)
    for compared in plans:
        plan, report = Plan.from_json(compared.plan), compared.report
        speed = report["events"] / max(engine_seconds(report), 1e-9)
        figures = (str(len(plan.trees)), f"{plan.cost:,.5g}", f"{speed:,.0f}", f"{report['cpu_seconds']:.2f}")
        table.add_row(plan.strategy, compared.technique, *figures)
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(table)
    console.print(f"estimated and measured throughput are {deviation:.1%} apart on average; MLflow run {parent}")
    console.print(verdict([(_name(compared), engine_seconds(compared.report)) for compared in plans]))


def _name(compared: Compared) -> str:
    from optimizer.plan.definition import Plan

    return f"{Plan.from_json(compared.plan).strategy} with {compared.technique}"


def verdict(measured: list[tuple[str, float]]) -> str:
    """Say which plan was the fastest, and the regret of the others.

    >>> verdict([("shared with panes", 0.5), ("cascade with panes", 0.25)])
    'fastest: cascade with panes (0.25 CPU s); regret of shared with panes 2.00'
    """
    (best, least), *others = sorted(measured, key=lambda pair: pair[1])
    regrets = ", ".join(f"{name} {seconds / max(least, 1e-9):.2f}" for name, seconds in others)
    return f"fastest: {best} ({least:.2f} CPU s)" + (f"; regret of {regrets}" if others else "")
