"""`heddle results`, `publish`, `status`, `alerts`: published answers, who has got them, and what they raised.

Answers have the columns that their SQL has.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jobs.host.command_line import Folder, say_next

if TYPE_CHECKING:
    import pyarrow as pa

    from jobs.sinks.deliver import SinkState
    from optimizer.catalog.model.catalog import Catalog

SHOWN = 20


def results(
    folder: Folder,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The query's id.")],
    warehouse: Annotated[str, typer.Option(metavar="DIR", help="Where heddle evaluate keeps its results.")],
    out: Annotated[Path | None, typer.Option(help="Write all rows here: .parquet, .csv or .json.")] = None,
    limit: Annotated[int | None, typer.Option(help="Only the last so many rows; all of them when 0.")] = None,
    show_open: Annotated[
        bool, typer.Option("--open", help="Also windows that have not ended, with their value so far.")
    ] = False,
    revisions: Annotated[
        bool, typer.Option("--revisions", help="Every answer to windows that late events corrected, numbered.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON, and nothing else.")] = False,
) -> None:
    """Show or export what has been published of a query: the newest windows, or all with --out and --json."""
    from jobs.results import results_table
    from optimizer.catalog.read.load import load_catalog
    from optimizer.errors import HeddleError

    if out is not None and out.suffix not in WRITERS:
        raise HeddleError(f"{out}: the file's name says its format; end it in {', '.join(WRITERS)}")
    if limit is not None and limit < 0:
        raise HeddleError(f"--limit {limit}: there are no rows below 0; give how many rows are wanted, or 0 for all")
    catalog = load_catalog(folder)
    table = results_table(warehouse, catalog, query, show_open, revisions)
    if limit is None:
        limit = 0 if out or as_json else SHOWN
    last = table.slice(max(0, table.num_rows - limit)) if limit else table
    if out is not None:
        _write(last, out)
    if as_json:
        typer.echo(json.dumps(_records(last), indent=1))
    elif out is None:
        if not table.num_rows:
            typer.echo(f"no answers of {query} to show: {_reason(catalog, query, folder, warehouse)}")
        else:
            _show_rows(last, table.num_rows)


def _write(table: pa.Table, out: Path) -> None:
    from optimizer.errors import HeddleError

    try:
        WRITERS[out.suffix](table, out)
    except OSError as error:
        raise HeddleError(f"{out}: cannot be written ({error.strerror or error}); choose another --out") from None
    Console(stderr=True, soft_wrap=True, highlight=False).print(f"{table.num_rows:,} rows in {out}", markup=False)


def _parquet(table: pa.Table, out: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, out)


def _csv(table: pa.Table, out: Path) -> None:
    """Text has no structs: a window becomes its start and its end."""
    from pyarrow import csv

    csv.write_csv(table.flatten(), out)


def _json(table: pa.Table, out: Path) -> None:
    with out.open("w") as stream:
        for record in _records(table):
            stream.write(json.dumps(record) + "\n")


WRITERS: dict[str, Callable[[Any, Path], None]] = {".parquet": _parquet, ".csv": _csv, ".json": _json}


def _records(table: pa.Table) -> list[dict[str, Any]]:
    """Rows as JSON takes them: times as ISO texts, numbers that JSON lacks as Spark prints them."""
    return [{name: _plain(value) for name, value in row.items()} for row in readable(table).to_pylist()]


def readable(table: pa.Table) -> pa.Table:
    """Return a table whose texts are UTF-8: a byte that is not shows as a replacement character."""
    import pyarrow as pa

    for number, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            texts = table[number].cast(pa.binary()).to_pylist()
            column = [None if text is None else text.decode(errors="replace") for text in texts]
            table = table.set_column(number, field, pa.chunked_array([pa.array(column, pa.string())]))
    return table


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()  # as Spark's to_json writes them
    if isinstance(value, Decimal):
        return str(value)
    return value if value is None or isinstance(value, int | float | str) else value.isoformat()


def _reason(catalog: Catalog, query: str, folder: Path, warehouse: str) -> str:
    """Say why a query has no answers, and what would bring them."""
    from jobs.engine.warehouse.ledger import newest_ledger
    from jobs.engine.warehouse.lifecycle import stream_storage
    from jobs.engine.warehouse.manifest import newest
    from jobs.runs.report import format_time

    stream = catalog.stream_of(query)
    storage, place = stream_storage(warehouse, stream), f"{folder} --stream {stream} --warehouse {warehouse}"
    ledger, manifest = newest_ledger(storage), newest(storage)
    if ledger.pending(manifest.results):
        return f"results wait for their audit; heddle check {place} makes it"
    time = format_time(manifest.watermark)
    return (
        f"windows that end after {time} are answered when more events come; "
        f"heddle backfill {place} --to '{time}' answers earlier ones"
    )


def _show_rows(table: pa.Table, total: int) -> None:
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 160  # a file or a pipe has no width of its own
    flat = readable(table.flatten())
    printed = Table(box=SIMPLE_HEAD)
    for field in flat.schema:
        printed.add_column(field.name, justify="left" if str(field.type) in ("string", "bool") else "right")
    for row in zip(*(column.to_pylist() for column in flat.columns), strict=True):
        printed.add_row(*(Text(_text(value)) for value in row))
    shown = f"the last {table.num_rows} of {total:,} rows; --limit 0 shows all, " if total > table.num_rows else ""
    printed.caption = f"{shown}--out FILE writes them"
    console.print(printed)


def _text(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"[{value.hex(' ').upper()}]"  # as Spark shows them
    return str(value).removesuffix("+00:00")


Stream = Annotated[str, typer.Option(help="The stream.")]
Warehouse = Annotated[str, typer.Option(metavar="DIR", help="Where heddle evaluate keeps its results.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]


def publish(folder: Folder, stream: Stream, warehouse: Warehouse) -> None:
    """Bring the sinks of a stream up to what is published; heddle evaluate and heddle check do so by themselves."""
    deliver_published(str(folder), stream, warehouse)
    _show_sinks(_states(folder, stream, warehouse), stream)
    say_next(f"heddle status {folder} --stream {stream} --warehouse {warehouse}")


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
    _show_sinks(states, stream)
    say_next(f"heddle results {folder} QUERY --warehouse {warehouse}")


def alerts(
    folder: Folder,
    stream: Stream,
    warehouse: Warehouse,
    query: Annotated[str, typer.Option(help="Only those of one query.")] = "",
    as_json: AsJson = False,
) -> None:
    """Print every alert that the published answers of a stream have raised, oldest first."""
    from jobs.engine.warehouse.lifecycle import evaluated_manifest, stream_storage
    from jobs.sinks.alerts import Alert, alerts_table
    from optimizer.catalog.read.load import load_catalog

    catalog = load_catalog(folder)
    catalog.of_stream(stream)
    if query:
        catalog.stream_of(query)
    evaluated_manifest(warehouse, stream)
    rows = alerts_table(stream_storage(warehouse, stream), query).to_pylist()
    if as_json:
        typer.echo(json.dumps([row | {"row": json.loads(row["row"])} for row in rows], indent=1))
        return
    for row in rows:
        typer.echo(Alert(**row).line)
    if not rows:
        typer.echo(f"{stream}: no alert has been raised")
    say_next(f"heddle results {folder} {query or 'QUERY'} --warehouse {warehouse}")


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


def _show_sinks(states: Sequence[SinkState], stream: str) -> None:
    for line in [state.line for state in states] or [f"{stream} has no sinks"]:
        typer.echo(line)
