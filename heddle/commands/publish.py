"""`heddle publish`, `heddle status`, `heddle alerts`: what sinks have got, and what was raised."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.host.command_line import Folder

if TYPE_CHECKING:
    from jobs.sinks.deliver import SinkState

Stream = Annotated[str, typer.Option(help="The stream.")]
Warehouse = Annotated[str, typer.Option(metavar="DIR", help="Where heddle evaluate keeps its results.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]


def publish(folder: Folder, stream: Stream, warehouse: Warehouse) -> None:
    """Bring the sinks of a stream up to what is published; heddle evaluate and heddle check do so by themselves."""
    deliver_published(str(folder), stream, warehouse)
    _show(_states(folder, stream, warehouse), stream)


def status(folder: Folder, stream: Stream, warehouse: Warehouse, as_json: AsJson = False) -> None:
    """Say how far a stream has come, and how far behind each of its sinks is."""
    from jobs.engine.warehouse.lifecycle import evaluated_manifest
    from jobs.runs.report import format_time

    states = _states(folder, stream, warehouse)
    manifest = evaluated_manifest(warehouse, stream)
    watermark = format_time(manifest.watermark)
    if as_json:
        sinks = {state.name: {"format": state.format, **state.standing._asdict()} for state in states}
        typer.echo(json.dumps({"batch": manifest.batch, "watermark": watermark, "sinks": sinks}))
        return
    typer.echo(f"{stream}: batch {manifest.batch}, watermark {watermark}")
    _show(states, stream)


def alerts(
    folder: Folder,
    stream: Stream,
    warehouse: Warehouse,
    query: Annotated[str, typer.Option(help="Only those of one query.")] = "",
    as_json: AsJson = False,
) -> None:
    """Print every alert that the published answers of a stream have raised, oldest first."""
    from jobs.engine.warehouse.lifecycle import stream_storage
    from jobs.sinks.alerts import Alert, alerts_table
    from optimizer.catalog.read.load import load_catalog

    load_catalog(folder).of_stream(stream)
    rows = alerts_table(stream_storage(warehouse, stream), query).to_pylist()
    if as_json:
        typer.echo(json.dumps([row | {"row": json.loads(row["row"])} for row in rows], indent=1))
        return
    for row in rows:
        typer.echo(Alert(**row).line)
    if not rows:
        typer.echo(f"{stream}: no alert has been raised")


def deliver_published(folder: str, stream: str, warehouse: str) -> None:
    """Deliver what is published; say which sinks are down, and which alerts are new."""
    from jobs.sinks.deliver import deliver
    from optimizer.catalog.read.load import load_catalog

    def say(line: str) -> None:
        typer.echo(line, err=True)

    catalog = load_catalog(folder)
    catalog.of_stream(stream)
    for alert in deliver(catalog, stream, warehouse, say):
        say(f"alert: {alert.line}")


def _states(folder: Path, stream: str, warehouse: str) -> list[SinkState]:
    from jobs.engine.warehouse.lifecycle import stream_storage
    from jobs.sinks.deliver import sink_states
    from optimizer.catalog.read.load import load_catalog

    catalog = load_catalog(folder)
    catalog.of_stream(stream)
    return sink_states(stream_storage(warehouse, stream), catalog.streams[stream].sinks)


def _show(states: Sequence[SinkState], stream: str) -> None:
    for line in [state.line for state in states] or [f"{stream} has no sinks"]:
        typer.echo(line)
