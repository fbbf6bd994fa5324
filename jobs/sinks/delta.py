"""Delta tables, one per statement; the transaction (app id, publication) makes a batch exist once.

Files are written with pyarrow and entered in the table's log with the transaction, by one commit: the library's own
writer takes several times as long for a small batch.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.transaction import AddAction, create_table_with_add_actions

from jobs.host.kill_points import step
from jobs.host.storage import Storage
from jobs.sinks.contract import Place, Rows, SinkTable, refuse_columns, refuse_stranger


def open_sink(place: Place) -> DeltaSink:
    """Open the folder of the tables."""
    return DeltaSink(place)


class DeltaSink:
    """A folder with a Delta table per statement."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.storage = Storage(place.sink.path)
        self.app = f"heddle/{place.warehouse}"
        self.tables: dict[str, DeltaTable | None] = {}

    def check(self, tables: Sequence[SinkTable]) -> None:
        """Refuse tables with other columns, or with rows of someone else."""
        for table in tables:
            there = self._open(table.name)
            if there is None:
                continue
            columns = ([f"{field.name} {_type_text(field.type)}" for field in schema.fields] for schema in
                       (there.schema(), Schema.from_arrow(table.schema)))  # fmt: skip
            refuse_columns(self.place, table, *columns)
            if there.transaction_version(self.app) is None and there.file_uris():
                raise refuse_stranger(self.place, f"the table {table.name}")

    def write(self, number: int, batch: int, rows: Rows) -> None:
        """Commit the rows of every table that lacks them."""
        for table, answers in rows:
            there = self._open(table.name)
            got = there.transaction_version(self.app) if there else None
            if answers.num_rows and (got is None or got < number):
                self._commit(there, table, answers, number)

    def _commit(self, there: DeltaTable | None, table: SinkTable, answers: pa.Table, number: int) -> None:
        name = f"part-{self.place.warehouse}-{number:012d}.parquet"
        path = self.storage.path(f"{table.name}/{name}")
        self.storage.make_folder(table.name)
        pq.write_table(answers, path, filesystem=self.storage.filesystem, **_encoding(answers.schema))
        step("sink written")
        size = self.storage.filesystem.get_file_info(path).size
        counted = json.dumps({"numRecords": answers.num_rows})
        added = [AddAction(name, size, {}, time.time_ns() // 1_000_000, True, counted)]
        once = CommitProperties(app_transactions=[Transaction(self.app, number)])
        schema = Schema.from_arrow(table.schema)
        if there is None:
            create_table_with_add_actions(self._uri(table.name), schema, added, mode="error", commit_properties=once)
        else:
            there.create_write_transaction([*added], "append", schema, commit_properties=once)
        self.tables.pop(table.name, None)
        step("sink committed")

    def _open(self, name: str) -> DeltaTable | None:
        """Open a table as it is now; it is kept open until this process writes to it."""
        if name not in self.tables:
            uri = self._uri(name)
            there = (Path(uri) / "_delta_log").is_dir() if self.storage.local else DeltaTable.is_deltatable(uri)
            self.tables[name] = DeltaTable(uri) if there else None
        return self.tables[name]

    def _uri(self, name: str) -> str:
        return self.storage.uri(name).replace("s3a://", "s3://", 1)


def _encoding(schema: pa.Schema) -> dict[str, Any]:
    """Return how a file is written: dictionaries where values repeat, differences for times."""
    leaves = list(_leaves(schema))
    times = {name: "DELTA_BINARY_PACKED" for name, kind in leaves if pa.types.is_timestamp(kind)}
    repeated = [name for name, kind in leaves if pa.types.is_string(kind)] + schema.names[-1:]  # the last is the batch
    return {"use_dictionary": repeated, "column_encoding": times, "write_statistics": False, "store_schema": False}


def _leaves(schema: pa.Schema) -> Iterator[tuple[str, pa.DataType]]:
    """Yield the columns of a file by their paths: a window has two."""
    for field in schema:
        if pa.types.is_struct(field.type):
            yield from ((f"{field.name}.{part.name}", part.type) for part in field.type)
        else:
            yield field.name, field.type


def _type_text(kind: object) -> str:
    """Return a type as people read it."""
    return str(getattr(kind, "type", kind)) if not hasattr(kind, "fields") else str(kind)
