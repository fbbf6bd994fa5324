"""`heddle check`: audit emitted windows against plain Spark, and publish what passes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from expectations.audit import AuditRequest, make_audit_request
from heddle.commands.evaluate import MASTER, Master
from heddle.commands.results import deliver_published
from jobs.host.command_line import say_next, takes

if TYPE_CHECKING:
    from expectations.check import Outcome
    from optimizer.catalog.model.catalog import Catalog

NAMED = 10  # failing rows that are shown of each check; the page has more


@takes(make_audit_request)
def check(
    audited: AuditRequest,
    seed: Annotated[int | None, typer.Option(help="Another seed, another sample.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every window of every query.")] = False,
    docs: Annotated[str, typer.Option(metavar="DIR", help="Where the page of the audit goes.")] = "",
    require: Annotated[bool, typer.Option("--require", help="From now on, publish only what passes.")] = False,
    release: Annotated[int | None, typer.Option(metavar="BATCH", help="Publish a quarantined batch as it is.")] = None,
    discard: Annotated[int | None, typer.Option(metavar="BATCH", help="Never publish a quarantined batch.")] = None,
    master: Master = MASTER,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON, and nothing else.")] = False,
) -> None:
    """Recompute a sample of the emitted windows on plain Spark; exit code 1 when they differ."""
    from optimizer.catalog.read.load import load_catalog

    stream, warehouse = audited.stream, audited.warehouse
    catalog = load_catalog(audited.folder)
    catalog.of_stream(stream)
    _refuse_mixtures(audited.sample, require, release, discard)
    place = f"{audited.folder} --stream {stream} --warehouse {warehouse}"
    results = f"heddle results {audited.folder} QUERY --warehouse {warehouse}"
    if require or release is not None or discard is not None:
        _decide(warehouse, stream, release, discard)
        if release is not None:
            deliver_published(str(audited.folder), stream, warehouse)
        say_next(f"heddle check {place}" if require else results)
        return
    outcome = _audit(audited, catalog, (seed, everything, docs), master)
    if as_json:
        typer.echo(json.dumps(outcome.to_dict(), indent=1))
    else:
        _show(outcome)
    if not outcome.audit.passed:
        raise typer.Exit(1)
    deliver_published(str(audited.folder), stream, warehouse)
    if not as_json:
        say_next(results)


def _audit(audited: AuditRequest, catalog: Catalog, how: tuple[int | None, bool, str], master: str) -> Outcome:
    """Audit what has been emitted, on a Spark that is started for it, and say how far it is."""
    from expectations.check import Choice
    from expectations.check import check as audit
    from jobs.engine.warehouse.lifecycle import evaluated_manifest
    from jobs.spark.session import JAVA_OPTIONS, java_options, spark_session

    evaluated_manifest(audited.warehouse, audited.stream)
    choice = Choice(audited.sample, *how)
    console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    with console.status("auditing") as status:
        spark = spark_session(master, {JAVA_OPTIONS: java_options(working=choice.everything)})
        return audit(spark, catalog, audited.stream, audited.warehouse, choice, status.update)


def _refuse_mixtures(sample: int, require: bool, release: int | None, discard: int | None) -> None:
    from optimizer.errors import HeddleError

    if sample < 1:
        raise HeddleError("--sample is at least 1; use --all for every window")
    if require + (release is not None) + (discard is not None) > 1:
        raise HeddleError("--require, --release and --discard are one at a time")


def _decide(warehouse: str, stream: str, release: int | None, discard: int | None) -> None:
    from expectations.publish import settle_batch
    from jobs.engine.warehouse.ledger import require_audit
    from jobs.engine.warehouse.lifecycle import stream_storage

    batch = discard if release is None else release
    if batch is not None:
        typer.echo(settle_batch(warehouse, stream, batch, release is not None))
    else:
        require_audit(stream_storage(warehouse, stream))
        typer.echo(f"results of {stream} are unpublished from now on until heddle check has passed them")


def _show(outcome: Outcome) -> None:
    console = Console(highlight=False, markup=False, soft_wrap=True)
    audit = outcome.audit
    table = Table(box=SIMPLE_HEAD)
    for name in ("check", "rows", "failing"):
        table.add_column(name, justify="left" if name == "check" else "right")
    for check in audit.checks:
        mark = {"passed": "ok  ", "failed": "FAIL", "warning": "WARN"}.get(check.verdict, "n/a ")
        table.add_row(f"{mark} {check.name}", f"{check.rows:,}", f"{check.failing:,}")
    console.print(table)
    for check in audit.checks:
        for row in check.examples[:NAMED]:
            console.print(f"{check.name}: " + ", ".join(f"{name} {value}" for name, value in row.items()))
    console.print(f"{audit.rows:,} rows of {audit.statements} statements, {audit.windows:,} windows: {audit.summary}")
    _show_batches(console, outcome)
    console.print(f"The audit's page: {outcome.page}", style="dim")


def _show_batches(console: Console, outcome: Outcome) -> None:
    if outcome.published:
        console.print(f"published: batch {', '.join(map(str, outcome.published))}")
    if outcome.quarantined:
        batches = ", ".join(map(str, outcome.quarantined))
        console.print(f"quarantined: batch {batches}; --release or --discard each of them")
