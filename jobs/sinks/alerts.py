"""Alerts: published rows that pass the condition of their query, kept in the warehouse and handed out once.

The alerts of a publication are one file, named by its number and created if absent: whatever is tried again, a window
raises one alert. To hand alerts out is to claim that file first, so that nobody hears of a window twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from jobs.engine.warehouse.manifest import newest
from jobs.engine.warehouse.outbox import Publication
from jobs.engine.warehouse.read_answers import pass_condition, read_by_statement
from jobs.engine.warehouse.statements import EvaluatedStatement
from jobs.host.stops import step
from jobs.host.storage import Storage

FOLDER = "alerts"
CLAIMS = "alert_claims"


@dataclass(frozen=True)
class Alert:
    """A row that passed: whose, by which condition, in which batch, and the row as JSON."""

    query: str
    condition: str
    batch: int
    row: str

    @property
    def line(self) -> str:
        """The alert as a person reads it."""
        values = ", ".join(f"{name} {_text_of(value)}" for name, value in json.loads(self.row).items())
        return f"{self.query}: {values} ({self.condition})"


def raise_alerts(storage: Storage, publication: Publication, statements: Sequence[EvaluatedStatement]) -> None:
    """Keep the rows of a publication that pass the condition of their query."""
    watched = [statement for statement in statements if statement.statement.alert]
    alerts = [
        Alert(statement.statement.id, statement.statement.alert, publication.batch, json.dumps(row, default=_plain))
        for statement, answers in read_by_statement(storage, publication.files, watched)
        for row in _in_order(pass_condition(answers, statement.statement.alert))
    ]
    # a window that is corrected may have raised one before, and one that is released after its correction, too
    if any(file.revised for file in (*publication.files, *newest(storage).results)):
        raised = {_place(alert, watched) for alert in _read(storage, sorted(storage.names(FOLDER)))}
        alerts = [alert for alert in alerts if _place(alert, watched) not in raised]
    if alerts:
        content = "".join(json.dumps(vars(alert)) + "\n" for alert in alerts)
        storage.create(f"{FOLDER}/{publication.number:012d}.jsonl", content.encode())
    step("alerts raised")


def _place(alert: Alert, statements: Sequence[EvaluatedStatement]) -> tuple[str, str]:
    """Return the query of an alert with its keys and window, by which it is told apart."""
    columns = [column for each in statements if each.statement.id == alert.query for column in each.statement.columns]
    names = [column.name for column in columns if column.kind != "answer"]
    row = json.loads(alert.row)
    return alert.query, json.dumps([row.get(name) for name in names])


def claim_alerts(storage: Storage) -> list[Alert]:
    """Return the alerts that nobody has been told of, oldest first; whoever calls next gets none of them."""
    claimed = {name.rpartition("/")[2] for name in storage.names(CLAIMS)}
    names = [name for name in sorted(storage.names(FOLDER)) if name.rpartition("/")[2] not in claimed]
    own = [name for name in names if storage.create(f"{CLAIMS}/{name.rpartition('/')[2]}", b"")]
    return _read(storage, own)


def alerts_table(storage: Storage, query: str = "") -> pa.Table:
    """Read every alert that was raised, of all queries or of one: query, condition, batch, row."""
    alerts = [alert for alert in _read(storage, sorted(storage.names(FOLDER))) if query in ("", alert.query)]
    schema = pa.schema(
        [("query", pa.string()), ("condition", pa.string()), ("batch", pa.int64()), ("row", pa.string())]
    )
    return pa.Table.from_pylist([vars(alert) for alert in alerts], schema)


def _read(storage: Storage, names: Iterable[str]) -> list[Alert]:
    return [Alert(**json.loads(line)) for name in names for line in storage.read(name).decode().splitlines()]


def _in_order(answers: pa.Table) -> list[dict[str, object]]:
    """Return rows in the order of their texts: keys and windows first, as a person reads them."""
    return sorted(answers.to_pylist(), key=repr)


def _text_of(value: object) -> str:
    return f"{value['start']} to {value['end']}" if isinstance(value, dict) and "start" in value else str(value)


def _plain(value: object) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
