"""A folder of Parquet files, one folder per statement; a manifest file makes a batch exist.

A publication writes `STATEMENT/PUBLICATION.parquet` and then, by one step, `_manifests/STREAM/PUBLICATION.json`, which
names these files. One that is tried again writes the same names, so that a reader of the folder meets no row twice.
A corrected row is written into the file that has the row it replaces: a reader meets one of the two, never neither.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.host.stops import step
from jobs.host.storage import Storage
from jobs.sinks.contract import Place, Rows, SinkTable, TableRows, column_texts, refuse_columns, refuse_stranger
from optimizer.errors import HeddleError

MANIFESTS = "_manifests"


def open_sink(place: Place) -> ParquetSink:
    """Open the folder."""
    return ParquetSink(place)


class ParquetSink:
    """A folder below which every statement has its own."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.storage = Storage(place.sink.path)

    def check(self, tables: Sequence[SinkTable]) -> None:
        """Refuse a folder that another warehouse writes, and files with other columns."""
        names = sorted(self.storage.names(f"{MANIFESTS}/{self.place.stream}"))
        if names and json.loads(self.storage.read(names[-1]))["warehouse"] != self.place.warehouse:
            raise refuse_stranger(self.place, self.storage.root)
        for table in tables:
            files = [name for name in self.storage.names(table.name) if name.endswith(".parquet")]
            for name in files[:1]:
                there = pq.read_schema(self.storage.path(name), filesystem=self.storage.filesystem)
                refuse_columns(self.place, table, column_texts(there), column_texts(table.schema))

    def write(self, number: int, batch: int, rows: Rows) -> None:
        """Write a file per statement, then the manifest."""
        manifest = f"{MANIFESTS}/{self.place.stream}/{number:012d}.json"
        if self.storage.exists(manifest):
            return
        files = {}
        for rows_of_table in rows:
            table, answers = rows_of_table.table, self._put_in_place(rows_of_table, f"{number:012d}.parquet")
            if not answers.num_rows:
                continue
            name = f"{table.name}/{number:012d}.parquet"
            self._write_file(name, answers)
            files[table.name] = {"file": name, "rows": answers.num_rows}
            step("sink written")
        content = {"warehouse": self.place.warehouse, "batch": batch, "tables": files}
        if not self.storage.create(manifest, json.dumps(content).encode()):
            raise HeddleError(f"sink {self.place.sink.name}: another delivery wrote {manifest} meanwhile; run it again")
        step("sink committed")

    def _put_in_place(self, rows: TableRows, own: str) -> pa.Table:
        """Write the files of earlier publications that hold replaced rows again, with the new rows instead; return
        the rows that take no other's place. Each file changes by one step: a reader meets the old row or the new one.

        What is tried again finds its own rows there, and puts them in the place of themselves."""
        answers = rows.plain
        for name in sorted(self.storage.names(rows.table.name)) if rows.replaced is not None else ():
            file = name.rpartition("/")[2]
            if not file.endswith(".parquet") or file >= own:
                continue
            there = pq.read_table(self.storage.path(name), filesystem=self.storage.filesystem, partitioning=None)
            others = rows.drop_replaced(there)
            if others.num_rows < there.num_rows:
                is_in_file = rows.are_rows_of(answers, there)
                corrected = answers.filter(is_in_file).cast(there.schema)
                self._write_file(name, pa.concat_tables([others, corrected]))
                answers = answers.filter(pc.invert(is_in_file))
                step("sink written")
        return answers

    def _write_file(self, name: str, answers: pa.Table) -> None:
        folder, _, file = name.rpartition("/")
        draft = f"{folder}/.{file}"
        self.storage.make_folder(folder)
        pq.write_table(answers, self.storage.path(draft), filesystem=self.storage.filesystem)
        self.storage.filesystem.move(self.storage.path(draft), self.storage.path(name))
