"""Delta tables, one per statement; the transaction (app id, publication) makes a batch exist once.

Files are written with pyarrow and entered in the table's log with the transaction, by one commit: the library's own
writer takes several times as long for a small batch. A table whose newest commit is our own, of a plain table, is not
even opened: that commit says all that the next one needs, and the next one is a small file that is created if absent.
Whatever else stands there (another writer's commit, a table with features, a checkpoint that is due, a remote store)
goes by the library.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.transaction import AddAction, create_table_with_add_actions

from jobs.engine.events.arrow import to_array
from jobs.host.stops import step
from jobs.host.storage import Storage
from jobs.sinks.contract import Place, Rows, SinkTable, TableRows, column_texts, refuse_columns, refuse_stranger

LOG = "_delta_log"
OWN = "heddle"  # the mark of our own commits: a digest of the columns
CHECKPOINT_EVERY = 100  # commits, as the library has it
STAYS = "heddle_stays"  # of a merge's source: whether the row takes the place of another, or none does
PLAIN_WRITER = 2  # the version of a table without features


class Head(NamedTuple):
    """The newest commit of a table, which is our own: its version, and the publication that it brought."""

    version: int
    number: int


def open_sink(place: Place) -> DeltaSink:
    """Open the folder of the tables."""
    return DeltaSink(place)


class DeltaSink:
    """A folder with a Delta table per statement."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.storage = Storage(place.sink.path)
        self.app = f"heddle/{place.warehouse}"
        self.digests: dict[str, str] = {}
        self.tables: dict[str, DeltaTable | None] = {}
        self.heads: dict[str, Head | None] = {}

    def check(self, tables: Sequence[SinkTable]) -> None:
        """Refuse tables with other columns, or with rows of someone else."""
        for table in tables:
            self.digests[table.name] = _digest(table)
            self.heads[table.name] = self._read_head(table)
            there = self._open(table.name) if self.heads[table.name] is None else None
            if there is None:
                continue
            columns = ([f"{field.name} {_type_text(field.type)}" for field in schema.fields] for schema in
                       (there.schema(), Schema.from_arrow(table.schema)))  # fmt: skip
            refuse_columns(self.place, table, *columns)
            if there.transaction_version(self.app) is None and there.file_uris():
                raise refuse_stranger(self.place, f"the table {table.name}")

    def write(self, number: int, batch: int, rows: Rows) -> None:
        """Commit the rows of every table that lacks them."""
        for table, answers, replaced in rows:
            head = self.heads.get(table.name)
            there = None if head else self._open(table.name)
            newest = head.number if head else there.transaction_version(self.app) if there else None
            if newest is not None and newest >= number:
                continue
            if replaced is not None and (open_table := self._open(table.name)) is not None:
                self._merge(open_table, TableRows(table, answers.cast(table.schema), replaced), number)
            elif answers.num_rows:
                self._commit(there, table, answers, number)

    def _merge(self, there: DeltaTable, rows: TableRows, number: int) -> None:
        """Replace rows by one commit of the library, which writes the files that hold them again."""
        table, answers, replaced = rows
        deleted = TableRows(table, answers, answers).drop_replaced(replaced)  # corrected, and the condition fails now
        is_there = pa.array([True] * answers.num_rows + [False] * len(deleted))
        source = pa.concat_tables([answers, deleted], promote_options="default").append_column(STAYS, is_there)
        same = " AND ".join(f"(target.{path} IS NOT DISTINCT FROM source.{path})" for path in _key_paths(table))
        values = {f"`{name}`": f"source.`{name}`" for name in table.schema.names}
        once = CommitProperties(app_transactions=[Transaction(self.app, number)])
        step("sink written")
        (
            there.merge(source, same, source_alias="source", target_alias="target", commit_properties=once)
            .when_matched_update(values, predicate=f"source.{STAYS}")
            .when_matched_delete(predicate=f"NOT source.{STAYS}")
            .when_not_matched_insert(values, predicate=f"source.{STAYS}")
            .execute()
        )
        self.tables.pop(table.name, None)
        self.heads[table.name] = None
        step("sink committed")

    def _commit(self, there: DeltaTable | None, table: SinkTable, answers: pa.Table, number: int) -> None:
        name = f"part-{self.place.warehouse}-{number:012d}.parquet"
        path = self.storage.path(f"{table.name}/{name}")
        head = self.heads.get(table.name)
        if head is None:
            self.storage.make_folder(table.name)
        with self.storage.filesystem.open_output_stream(path) as file:
            pq.write_table(_with_required(answers.unify_dictionaries()), file, **_encoding(table.schema))
            size = file.tell()
        step("sink written")
        counted = json.dumps({"numRecords": answers.num_rows})
        added = AddAction(name, size, {}, time.time_ns() // 1_000_000, True, counted)
        if head is None or not self._append(head, table, added, number):
            self._commit_by_library(there, table, added, number)
        step("sink committed")

    def _append(self, head: Head, table: SinkTable, added: AddAction, number: int) -> bool:
        """Create the commit after our own; False where somebody else has, or where a checkpoint is due."""
        version = head.version + 1
        if (version + 1) % CHECKPOINT_EVERY == 0:
            return False
        operation = {"operation": "WRITE", "operationParameters": {"mode": "Append", "partitionBy": "[]"}}
        file = {"path": added.path, "partitionValues": {}, "size": added.size, "stats": added.stats}
        actions = [
            {"commitInfo": {"timestamp": added.modification_time, **operation, OWN: self.digests[table.name]}},
            {"add": {**file, "modificationTime": added.modification_time, "dataChange": True}},
            {"txn": {"appId": self.app, "version": number}},
        ]
        content = "\n".join(map(json.dumps, actions)).encode()
        # as durable as the library's commits are
        is_ours = self.storage.create(f"{table.name}/{LOG}/{version:020d}.json", content, durable=False)
        self.heads[table.name] = Head(version, number) if is_ours else None
        return is_ours

    def _commit_by_library(self, there: DeltaTable | None, table: SinkTable, added: AddAction, number: int) -> None:
        there = there or self._open(table.name)
        is_plain = there is None or _is_plain(there)
        mark = {OWN: self.digests[table.name]} if is_plain else None
        once = CommitProperties(custom_metadata=mark, app_transactions=[Transaction(self.app, number)])
        schema = Schema.from_arrow(table.schema)
        if there is None:
            create_table_with_add_actions(self._uri(table.name), schema, [added], mode="error", commit_properties=once)
        else:
            there.create_write_transaction([added], "append", schema, commit_properties=once)
        self.tables.pop(table.name, None)
        self.heads[table.name] = self._read_head(table)

    def _read_head(self, table: SinkTable) -> Head | None:
        """Return the newest commit of a table where it is our own, of these columns; None where only the log tells."""
        folder = Path(self.storage.path(f"{table.name}/{LOG}"))
        if not self.storage.local or not folder.is_dir():
            return None
        newest = max((name for name in os.listdir(folder) if name[:20].isdigit()), default="")
        if not newest.endswith(".json"):
            return None
        actions = [json.loads(line) for line in (folder / newest).read_text().splitlines() if line]
        is_ours = any(action.get("commitInfo", {}).get(OWN) == self.digests[table.name] for action in actions)
        numbers = [action["txn"]["version"] for action in actions if action.get("txn", {}).get("appId") == self.app]
        return Head(int(newest[:20]), int(numbers[0])) if is_ours and numbers else None

    def _open(self, name: str) -> DeltaTable | None:
        """Open a table as it is now; it is kept open until this process writes to it."""
        if name not in self.tables:
            uri = self._uri(name)
            there = (Path(uri) / "_delta_log").is_dir() if self.storage.local else DeltaTable.is_deltatable(uri)
            self.tables[name] = DeltaTable(uri) if there else None
        return self.tables[name]

    def _uri(self, name: str) -> str:
        return self.storage.uri(name).replace("s3a://", "s3://", 1)


def _key_paths(table: SinkTable) -> list[str]:
    """Return the columns that tell rows apart as SQL, a window by its start."""
    structs = {name for name in table.key if pa.types.is_struct(table.schema.field(name).type)}
    return [f"`{name}`['start']" if name in structs else f"`{name}`" for name in table.key]


def _digest(table: SinkTable) -> str:
    return hashlib.sha256("\n".join(column_texts(table.schema)).encode()).hexdigest()


def _is_plain(table: DeltaTable) -> bool:
    """Whether a commit needs to know nothing of a table: it has no features and no settings."""
    return table.protocol().min_writer_version <= PLAIN_WRITER and not table.metadata().configuration


def _encoding(schema: pa.Schema) -> dict[str, Any]:
    """Return how a file is written: dictionaries where values repeat, differences for times."""
    leaves = list(_leaves(schema))
    times = {name: "DELTA_BINARY_PACKED" for name, kind in leaves if pa.types.is_timestamp(kind)}
    repeated = [name for name, kind in leaves if pa.types.is_string(kind)] + schema.names[-1:]  # the last is the batch
    return {"use_dictionary": repeated, "column_encoding": times, "write_statistics": False, "store_schema": False}


def _with_required(rows: pa.Table) -> pa.Table:
    """Return rows whose columns without nulls are required: to say of every value that it is there takes a quarter of
    the time that a file takes. The table's own columns may be null as before."""
    columns = [to_array(column) for column in rows.columns]
    columns = [_with_required_parts(column) if pa.types.is_struct(column.type) else column for column in columns]
    fields = [
        pa.field(name, column.type, nullable=_has_nulls(column))
        for name, column in zip(rows.schema.names, columns, strict=True)
    ]
    return pa.table(columns, schema=pa.schema(fields))


def _with_required_parts(column: pa.StructArray) -> pa.StructArray:
    parts = [column.field(place) for place in range(column.type.num_fields)]
    if column.null_count or any(part.null_count for part in parts):
        return column
    fields = [field.with_nullable(False) for field in column.type]
    return pa.StructArray.from_arrays(parts, fields=fields)


def _has_nulls(column: pa.Array) -> bool:
    if pa.types.is_dictionary(column.type) and column.dictionary.null_count:
        return True
    return bool(column.null_count)


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
