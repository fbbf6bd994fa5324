"""`heddle plans`, `heddle replan`, `heddle compare`: registered plans, the one in force, the one that is faster."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from heddle.commands.evaluate import MASTER, Master
from heddle.commands.plan import show_plan
from jobs.compare import STRATEGY_HELP, TECHNIQUE_HELP, make_comparison
from jobs.host.command_line import Folder, Keys, Rate, save_text, say_next, takes

if TYPE_CHECKING:
    from jobs.runs.compare import Compared, Comparison
    from jobs.tracking.registry import Version
    from jobs.tracking.store import Store

plans = typer.Typer(no_args_is_help=True, help="The registered plans of a stream, and the one in force.")
Stream = Annotated[str, typer.Argument(metavar="STREAM", help="The stream.")]


@plans.command()
def history(stream: Stream) -> None:
    """List every version with its cost, and when it was promoted."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("version", "strategy", "queries", "trees", "cost", "saving", "promoted"):
        table.add_column(name, overflow="fold")
    for version in _versions(_store(), stream):
        mark = f"{version.number} champion" if version.champion else str(version.number)
        when = version.promoted[-1][:16].replace("T", " ") if version.promoted else ""
        counts = (str(version.queries), str(version.trees), f"{version.cost:.6g}", f"{version.saving:z.1%}")
        table.add_row(mark, version.strategy, *counts, when)
    console = Console(highlight=False, markup=False)
    console.print(table)
    console.print(f"Next: heddle plans show {stream}", style="dim")


@plans.command()
def show(
    stream: Stream, out: Annotated[Path | None, typer.Option(help="Write the plan here, as JSON.")] = None
) -> None:
    """Explain the plan in force."""
    from jobs.tracking.registry import champion, plan_of
    from optimizer.errors import HeddleError

    store = _store()
    now = champion(store, stream)
    if now is None:
        raise HeddleError(f"stream {stream} has no plan in force; run heddle replan CATALOG --stream {stream}")
    plan = plan_of(store, now)
    if out:
        save_text(out, plan.to_json() + "\n")
    show_plan(plan, {"version": str(now.number), "rate": f"{plan.rate:.4g} events per second"})
    say_next(f"heddle plans history {stream}")


@plans.command()
def promote(
    stream: Stream,
    version: Annotated[int, typer.Argument(metavar="VERSION", help="Its number, as heddle plans history lists it.")],
) -> None:
    """Put a version in force, whatever it costs."""
    from jobs.tracking.registry import roll_back

    champion = roll_back(_store(), stream, version)
    typer.echo(f"version {champion.number} of {stream} is in force")
    say_next(f"heddle evaluate CATALOG --stream {stream} --warehouse DIR --champion")


@plans.command()
def rollback(stream: Stream) -> None:
    """Put the champion before the present one back in force."""
    from jobs.tracking.registry import roll_back

    champion = roll_back(_store(), stream)
    typer.echo(f"version {champion.number} of {stream} is in force again")
    say_next(f"heddle evaluate CATALOG --stream {stream} --warehouse DIR --champion")


@plans.command()
def weave(
    folder: Folder,
    stream: Annotated[str, typer.Option(help="The stream whose queries have changed.")],
    tolerance: Annotated[float, typer.Option(min=0.0, help="How much dearer than a build, as a share.")] = 0.05,
) -> None:
    """Change the plan in force for the queries that joined or left the catalog; beyond the tolerance, replan."""
    from jobs.plans.queries import weave as weave_queries
    from jobs.plans.replan import Wish
    from jobs.plans.replan import replan as replan_stream
    from optimizer.catalog.read.load import load_catalog

    catalog, store = load_catalog(folder), _store()
    outcome = weave_queries(store, catalog, stream, "", typer.echo, tolerance)
    if outcome.replan_due:
        replan_stream(store, catalog, Wish(stream), typer.echo)
    say_next(f"heddle evaluate {folder} --stream {stream} --warehouse DIR --champion")


def _store() -> Store:
    from jobs.host.settings import settings
    from jobs.tracking.store import open_store

    return open_store(settings())


def _versions(store: Store, stream: str) -> list[Version]:
    from jobs.tracking.registry import history as versions
    from optimizer.errors import HeddleError

    registered = versions(store, stream)
    if not registered:
        raise HeddleError(f"stream {stream} has no plan yet; run heddle replan CATALOG --stream {stream}")
    return registered


def replan(
    folder: Folder,
    stream: Annotated[str, typer.Option(help="The stream to plan.")],
    strategy: Annotated[list[str] | None, typer.Option(help=f"{STRATEGY_HELP} May be given more than once.")] = None,
    technique: Annotated[str, typer.Option(help=f"measured: the fastest by past runs. {TECHNIQUE_HELP}")] = "measured",
    rate: Rate = None,
    keys: Keys = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Log the plan, but do not register it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON, and nothing else.")] = False,
) -> None:
    """Measure the stream, plan it, compare with the champion, register and promote; MLflow remembers all of it."""
    from jobs.host.settings import settings
    from jobs.plans.replan import Wish
    from jobs.plans.replan import replan as replan_stream
    from jobs.tracking.store import open_store
    from optimizer.catalog.read.load import load_catalog
    from optimizer.planning.choices import STRATEGY

    catalog = load_catalog(folder)
    wish = Wish(stream, tuple(strategy or [STRATEGY]), technique, rate, keys, not dry_run)
    console = Console(stderr=as_json, soft_wrap=True, highlight=False, markup=False)
    outcome = replan_stream(open_store(settings()), catalog, wish, console.print)
    if as_json:
        typer.echo(json.dumps(outcome.to_dict(), indent=1))
    else:
        console.print(f"Next: heddle evaluate {folder} --stream {stream} --warehouse DIR --champion", style="dim")


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
    from optimizer.plan.definition import Plan

    catalog, store = load_catalog(folder), open_store(settings())
    console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    plans = run(catalog, comparison, None if local else lambda: spark_session(master), console.print)
    parent, deviation = log_compared(store, catalog, plans)
    if as_json:
        typer.echo(
            json.dumps({"run": parent, "deviation": deviation, "compared": [asdict(plan) for plan in plans]}, indent=1)
        )
    else:
        _show_compared(plans, parent, deviation)
        best = min(plans, key=lambda plan: sum(plan.report["step_seconds"].values()))
        strategy = Plan.from_json(best.plan).strategy
        console.print(
            f"Next: heddle ui shows the runs in MLflow; heddle replan {folder} --stream {comparison.stream} "
            f"--strategy {strategy} puts a plan in force",
            style="dim",
        )


def _show_compared(plans: list[Compared], parent: str, deviation: float | None) -> None:
    from jobs.steps.submit import verdict_of
    from jobs.tracking.comparisons import deviation_text
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
    console.print(f"{deviation_text(deviation)}; MLflow run {parent}")
    console.print(verdict_of(plans))
