"""Deliver what has been published to the sinks of a stream, in order, and raise its alerts.

A sink that is down stops nothing else: it is caught up by the next delivery. A sink that is wrong (its table has other
columns, its address is missing) is an error, once all others have got theirs.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pyarrow as pa

from jobs.engine.warehouse import outbox
from jobs.engine.warehouse.ledger import newest_ledger
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import DataFile, newest
from jobs.engine.warehouse.outbox import Publication, Standing
from jobs.engine.warehouse.read_answers import read_by_statement, shown_schema
from jobs.engine.warehouse.statements import EvaluatedStatement, evaluated_statement
from jobs.host.say import Say
from jobs.host.stops import step
from jobs.host.storage import Storage
from jobs.sinks import SINKS
from jobs.sinks.alerts import Alert, claim_alerts, raise_alerts
from jobs.sinks.contract import OpenSink, Place, Rows, SinkDownError, SinkTable, TableRows, batch_column
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Sink
from optimizer.errors import HeddleError

ALERTS = "alerts of a stream"  # the name of their mark: no sink is called so
Secrets = Callable[[str], str]  # env:NAME or airflow:CONNECTION -> the address


def environment(url: str) -> str:
    """Return the address that an environment variable holds; a connection of Airflow is in AIRFLOW_CONN_NAME."""
    scheme, _, name = url.partition(":")
    variable = name if scheme == "env" else f"AIRFLOW_CONN_{name.upper()}"
    if not os.environ.get(variable):
        raise HeddleError(
            f"{url}: the environment variable {variable} is not set; it holds the address of the database"
        )
    return os.environ[variable]


@dataclass(frozen=True)
class SinkState:
    """How far a sink is: the last batch that it has got, and how many publications wait for it."""

    name: str
    format: str
    standing: Standing

    @property
    def line(self) -> str:
        """The state as a person reads it."""
        batch, behind = self.standing
        upto = "has nothing yet" if batch is None else f"has all up to batch {batch}"
        return f"sink {self.name} ({self.format}) {upto}" + (f"; {behind} to come" if behind else "")


def sink_states(storage: Storage, sinks: Sequence[Sink]) -> list[SinkState]:
    """Return how far every sink of a stream is, by what its warehouse knows; no sink is asked."""
    return [SinkState(sink.name, sink.format, outbox.standing(storage, sink.name)) for sink in sinks]


def deliver(catalog: Catalog, stream: str, warehouse: str, say: Say, secrets: Secrets = environment) -> list[Alert]:
    """Deliver what waits for the sinks of a stream; return the alerts that nobody has been told of."""
    sinks = catalog.streams[stream].sinks
    watched = any(catalog.stream_of(id) == stream for id in catalog.alerts)
    storage = stream_storage(warehouse, stream)
    if not (sinks or watched) or newest(storage).batch < 0:
        return []
    mistakes: list[str] = []
    alerts: list[Alert] = []
    with _one_delivery(storage):
        outbox.enter_published(storage)
        statements = _statements(catalog, stream, storage)
        for sink in sinks:
            try:
                _deliver(storage, sink, stream, statements, secrets)
            except SinkDownError as reason:
                say(f"{stream}: sink {sink.name} is down ({reason}); the next publish catches up")
            except HeddleError as mistake:
                mistakes.append(str(mistake))
        try:
            alerts += _alert(storage, statements) if watched else []
        except HeddleError as mistake:
            mistakes.append(str(mistake))
        outbox.forget_publications(storage, [*(sink.name for sink in sinks), *([ALERTS] if watched else [])])
    if mistakes:
        for alert in alerts:  # they are claimed: a sink that is wrong shall not silence them
            say(f"alert: {alert.line}")
        raise HeddleError(f"{stream}: {mistakes[0]}" + (f" (and {len(mistakes) - 1} more)" if mistakes[1:] else ""))
    return alerts


def _alert(storage: Storage, statements: Sequence[EvaluatedStatement]) -> list[Alert]:
    if outbox.marked(storage, ALERTS) is None:
        outbox.begin_with_new(storage, ALERTS)
    waiting = outbox.publications_for(storage, ALERTS)
    hand_over(storage, ALERTS, waiting, lambda one: raise_alerts(storage, one, statements))
    return claim_alerts(storage)


def _deliver(
    storage: Storage, sink: Sink, stream: str, statements: Sequence[EvaluatedStatement], secrets: Secrets
) -> None:
    """Write what waits for a sink, with the columns that its tables have."""
    waiting = outbox.waiting_for(storage, sink.name)
    if not waiting:
        return
    tables = {statement.statement.id: _table(statement) for statement in statements}
    place = Place(sink, stream, waiting[0].warehouse, _address(secrets(sink.url)) if sink.url else "")
    try:
        target: OpenSink = import_module(SINKS[sink.format]).open_sink(place)
        target.check(list(tables.values()))
        hand_over(
            storage,
            sink.name,
            waiting,
            lambda one: target.write(one.number, one.batch, _rows(storage, one, statements, tables)),
        )
    except (HeddleError, SinkDownError):
        raise
    except Exception as error:  # whatever a driver or a remote store raises: the sink is not there now
        raise SinkDownError((str(error).strip().splitlines() or [type(error).__name__])[0][:300]) from error


def hand_over(
    storage: Storage, reader: str, waiting: Sequence[Publication], write: Callable[[Publication], None]
) -> None:
    """Hand a reader what waits for it, publication by publication; each is marked when the reader has it."""
    for publication in waiting:
        write(publication)
        outbox.mark(storage, reader, publication.number)
        step("delivered")


def _address(url: str) -> str:
    """Return an address as SQLAlchemy spells it; Airflow's connections say postgres.

    >>> _address("postgres://u:p@host/db")
    'postgresql://u:p@host/db'
    """
    return f"postgresql://{url.removeprefix('postgres://')}" if url.startswith("postgres://") else url


def _statements(catalog: Catalog, stream: str, storage: Storage) -> list[EvaluatedStatement]:
    """Return the statements over a stream that have been evaluated."""
    types = newest(storage).types
    ids = dict.fromkeys(catalog.of_stream(stream).statements.to_pylist())
    evaluated = (evaluated_statement(catalog, id, types) for id in ids)
    return [statement for statement in evaluated if statement is not None]


def _table(statement: EvaluatedStatement) -> SinkTable:
    """Return the table of a statement: its rows are told apart by keys and window, if all of them are selected."""
    columns = statement.statement.columns
    shown = shown_schema(statement)
    schema = shown.append(pa.field(batch_column(shown.names), pa.int64()))
    names = {column.source: column.name for column in columns if column.kind == "key"}
    window = [column.name for column in columns if column.kind == "window"]
    whole = window and all(key in names for key in statement.keys)
    return SinkTable(statement.statement.id, schema, (*names.values(), window[0]) if whole else ())


def _rows(
    storage: Storage, publication: Publication, statements: Sequence[EvaluatedStatement], tables: dict[str, SinkTable]
) -> Rows:
    """Yield the rows of a publication, statement by statement, without those that a sink has in a newer revision."""
    replaced: dict[str, pa.Table] = {}
    newer: dict[str, pa.Table] = {}
    if not publication.reader:  # else it is the first that a sink gets, and every row is the newest
        revised = [file for file in publication.files if file.revised]
        replaced = _read_keys(storage, revised, statements, tables)
        newer = _read_keys(storage, _newer_revisions(storage, publication), statements, tables, publication.batch)
    for statement, answers in read_by_statement(storage, publication.files, statements):
        table = tables[statement.statement.id]
        batches = pa.repeat(pa.scalar(publication.batch, pa.int64()), answers.num_rows)
        rows, keys = answers.append_column(table.schema.names[-1], batches), replaced.get(table.name)
        if table.name in newer:
            released = TableRows(table, rows, newer[table.name])
            rows, keys = released.drop_replaced(rows), released.drop_replaced(keys) if keys else keys
        yield TableRows(table, rows, keys if keys is not None and keys.num_rows else None)


def _newer_revisions(storage: Storage, publication: Publication) -> list[DataFile]:
    """Return the files with revisions by later batches that were entered before: the batch was released after them."""
    entered = set(publication.entered)
    public = newest_ledger(storage).public(newest(storage).results)
    return [f for f in public if f.revised and f.batch > publication.batch and (f.tier or f.name in entered)]


def _read_keys(
    storage: Storage,
    files: Sequence[DataFile],
    statements: Sequence[EvaluatedStatement],
    tables: dict[str, SinkTable],
    after: int | None = None,
) -> dict[str, pa.Table]:
    """Read what tells the rows of some files apart, by statement, whether or not they pass its condition."""
    if not files:
        return {}
    read = read_by_statement(storage, files, statements, filtered=False, revised_after=after)
    keys = {statement.statement.id: answers for statement, answers in read}
    return {id: answers.select(tables[id].key) for id, answers in keys.items() if tables[id].key}


@contextmanager
def _one_delivery(storage: Storage) -> Iterator[None]:
    """Wait until no other delivery of the stream is under way; where the disk is not local, sinks keep them apart."""
    if not storage.local:
        yield
        return
    try:
        handle = Path(storage.path("delivery.lock")).open("a+")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise HeddleError(
            f"{storage.root}: cannot be written ({error.strerror}); mend the folder, then publish"
        ) from None
    with handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
