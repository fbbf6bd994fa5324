"""What a case delivers: the tables of its sinks, and its alerts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.results import results_table
from jobs.sinks.alerts import alerts_table
from jobs.sinks.deliver import deliver
from optimizer.catalog.model.catalog import Catalog
from tests.worlds.sinks import PLACES, READERS, plain_rows
from tests.worlds.warehouse import STREAM


def sink_fields(folder: Path, formats: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """Return the sinks of a stream as its catalog has them."""
    places = {format: {field: str(folder / name) for field, name in PLACES[format].items()} for format in formats}
    return {format: {"format": format, **place} for format, place in places.items()}


def deliver_published(catalog: Catalog, folder: Path) -> None:
    """Deliver what is published; a sink that is down is a mistake here."""
    said: list[str] = []
    deliver(catalog, STREAM, str(folder / "warehouse"), said.append)
    assert not said, said


def check_sinks(catalog: Catalog, folder: Path, formats: tuple[str, ...], ids: list[str]) -> int:
    """Hold the tables of the sinks against the answers that are published; return how many rows they have."""
    rows = 0
    for format in formats:
        for id in ids:
            expected = results_table(str(folder / "warehouse"), catalog, id)
            if not expected.num_rows and not _is_there(folder, format, id):
                continue
            read = READERS[format](folder, id)
            ours = plain_rows(read.to_pylist() if isinstance(read, pa.Table) else read)
            wanted = expected if format != "sql" else _as_sqlite(expected)
            assert ours == plain_rows(wanted.to_pylist()), f"{id}: sink {format} has other rows than are published"
            rows += expected.num_rows
    return rows


def _is_there(folder: Path, format: str, id: str) -> bool:
    try:
        READERS[format](folder, id)
    except Exception:  # each library has its own for what is not there
        return False
    return True


def _as_sqlite(table: pa.Table) -> pa.Table:
    """Return answers as SQLite keeps them: lists as JSON."""
    for place, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            texts = [None if value is None else json.dumps(value, default=str) for value in table[place].to_pylist()]
            table = table.set_column(place, field.name, pa.array(texts, pa.string()))
    return table


def alerts_of(folder: Path) -> Mapping[str, list[str]]:
    """Return the rows that raised an alert, by statement."""
    alerts: dict[str, list[str]] = {}
    for row in alerts_table(stream_storage(str(folder / "warehouse"), STREAM)).to_pylist():
        alerts.setdefault(row["query"], []).append(row["row"])
    return alerts
