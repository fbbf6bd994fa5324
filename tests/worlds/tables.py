"""A Delta or Iceberg table of events, and the stream of a catalog that reads it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog import load_catalog as load_iceberg
from pyiceberg.table.snapshots import Operation
from pyiceberg.types import DecimalType, LongType

from jobs.results import results_table
from jobs.runs.in_process import evaluate_local
from jobs.runs.request import Options
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.planning.stream import plan_stream
from tests.worlds.streams import SECOND

STREAM = "events"
LENGTHS = {"range": "20 seconds", "slide": "5 seconds"}
QUERIES = [
    {"id": "total", "stream": STREAM, "select": "sum(x)", "group_by": ["k"], **LENGTHS},
    {"id": "some", "stream": STREAM, "select": ["max(x) AS top", "count(*) AS n"], "where": "x > 3", **LENGTHS},
]
KEYS_AND_DECIMALS = [
    {"id": "by_number", "stream": STREAM, "select": ["sum(d) AS s", "avg(d) AS a"], "group_by": ["x"], **LENGTHS},
    {"id": "by_both", "stream": STREAM, "select": ["count(*) AS n"], "group_by": ["k", "x"], **LENGTHS},
    {"id": "of_all", "stream": STREAM, "select": ["max(d) AS top", "count(DISTINCT d) AS n"], **LENGTHS},
    {"id": "by_decimal", "stream": STREAM, "select": "max(x)", "group_by": ["d"], **LENGTHS},
]
FORMATS = ["delta", "iceberg"]
WIDER = {"long": LongType(), "decimal(12,2)": DecimalType(12, 2)}
FEATURES = ("readerFeatures", "writerFeatures")
SCHEMA = pa.schema([("ts", pa.timestamp("us", "UTC")), ("k", pa.string()), ("x", pa.int32())])


@dataclass(frozen=True)
class TableWorld:
    """A table of events, and a catalog whose stream reads it."""

    folder: Path
    format: str

    @property
    def path(self) -> str:
        """Where the Delta table is."""
        return str(self.folder / "delta")

    def iceberg(self) -> Any:
        """The Iceberg table."""
        catalog = load_iceberg(
            "tests", type="sql", uri=f"sqlite:///{self.folder}/catalog.db", warehouse=str(self.folder)
        )
        catalog.create_namespace_if_not_exists("db")
        return catalog.create_table_if_not_exists("db.events", schema=SCHEMA)

    def append(self, table: pa.Table) -> None:
        """Add rows, with the columns that they have."""
        if self.format == "delta":
            self._append_to_delta(table)
            return
        target = self.iceberg()
        with target.update_schema() as update:
            update.union_by_name(table.schema)
        target.append(table)

    def compact(self) -> None:
        """Write the rows again in fewer files."""
        if self.format == "delta":
            DeltaTable(self.path).optimize.compact()
            return
        table = self.iceberg()
        rows = table.scan().to_arrow()
        table.overwrite(rows)
        _call_it_a_replacement(table)

    def delete(self) -> None:
        """Delete rows."""
        if self.format == "delta":
            DeltaTable(self.path).delete("x > 5")
        else:
            self.iceberg().delete("x > 5")

    def widen(self, column: str, kind: str = "long") -> None:
        """Give a column a wider type: whole numbers of 64 bits, or longer decimals."""
        if self.format == "iceberg":
            with self.iceberg().update_schema() as update:
                update.update_column(column, WIDER[kind])
            return
        table = DeltaTable(self.path)
        schema = json.loads(table.schema().to_json())
        field = next(field for field in schema["fields"] if field["name"] == column)
        change = {"fromType": field["type"], "toType": kind}
        field |= {"type": kind, "metadata": {"delta.typeChanges": [change]}}
        features = ["typeWidening"]
        actions = [
            {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7} | dict.fromkeys(FEATURES, features)},
            {"metaData": {"id": str(table.metadata().id), "format": {"provider": "parquet", "options": {}},
                          "schemaString": json.dumps(schema), "partitionColumns": [],
                          "configuration": {"delta.enableTypeWidening": "true"}}},
        ]  # fmt: skip
        self._commit(table.version() + 1, actions)

    def _append_to_delta(self, table: pa.Table) -> None:
        """Add rows; by hand to a table that was widened, to which the library does not write."""
        there = DeltaTable(self.path) if DeltaTable.is_deltatable(self.path) else None
        if there is None or "typeWidening" not in (there.protocol().writer_features or ()):
            write_deltalake(self.path, table, mode="append", schema_mode="merge")
            return
        name = f"part-{there.version() + 1}.parquet"
        pq.write_table(table, Path(self.path) / name)
        size = (Path(self.path) / name).stat().st_size
        added = {"path": name, "partitionValues": {}, "size": size, "modificationTime": 0, "dataChange": True}
        self._commit(there.version() + 1, [{"add": added}])

    def _commit(self, version: int, actions: list[dict[str, Any]]) -> None:
        log = Path(self.path) / "_delta_log" / f"{version:020d}.json"
        log.write_text("\n".join(map(json.dumps, actions)))

    def source(self) -> dict[str, Any]:
        """The source as the catalog has it."""
        if self.format == "delta":
            return {"format": "delta", "path": self.path}
        uri = f"sqlite:///{self.folder}/catalog.db"
        return {"format": "iceberg", "table": "db.events", "options": {"type": "sql", "uri": uri, "catalog": "tests"}}

    def catalog(self, queries: list[dict[str, Any]] = QUERIES, source: dict[str, Any] | None = None) -> Catalog:
        """The catalog, written anew."""
        folder = self.folder / "catalog"
        folder.mkdir(exist_ok=True)
        stream = {"source": source or self.source(), "time": "ts", "lateness": "2 seconds"}
        (folder / "catalog.yaml").write_text(yaml.dump({"streams": {STREAM: stream}, "queries": queries}))
        return load_catalog(folder)

    def evaluate(self, catalog: Catalog, warehouse: str = "w", files: int = 0) -> int:
        """Evaluate what is new, and return how many events that was."""
        plan = plan_stream(catalog, STREAM, 10.0)
        return evaluate_local(catalog, plan, str(self.folder / warehouse), Options(files_per_batch=files)).events

    def answers(self, catalog: Catalog, warehouse: str = "w") -> list[list[dict[str, Any]]]:
        """The rows of all queries."""
        return [
            sorted(map(_in_order, results_table(str(self.folder / warehouse), catalog, id).to_pylist()), key=str)
            for id in catalog.statements
        ]


def _in_order(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose lists, which Spark gives in any order, are sorted."""
    return {name: sorted(value) if isinstance(value, list) else value for name, value in row.items()}


def _call_it_a_replacement(table: Any) -> None:
    """Rename the operation of the newest snapshots to what Iceberg's own compaction writes, in the table's metadata."""
    place = Path(table.metadata_location.removeprefix("file://"))
    content = json.loads(place.read_text())
    known = {entry["snapshot-id"] for entry in content["snapshots"] if entry["summary"]["operation"] == "append"}
    last_append = [entry for entry in content["snapshots"] if entry["snapshot-id"] in known]
    head = content["current-snapshot-id"]
    kept = [entry for entry in content["snapshots"] if entry["snapshot-id"] != head]
    newest_entry = next(entry for entry in content["snapshots"] if entry["snapshot-id"] == head)
    # an overwrite is a delete and an append: together they are one replacement of the snapshot before both
    removal = next(entry for entry in kept if entry["snapshot-id"] == newest_entry["parent-snapshot-id"])
    newest_entry["parent-snapshot-id"] = removal["parent-snapshot-id"]
    newest_entry["summary"]["operation"] = Operation.REPLACE.value
    content["snapshots"] = [entry for entry in kept if entry is not removal] + [newest_entry]
    assert last_append
    place.write_text(json.dumps(content))


def rows(seed: int, count: int = 40, **more: list[Any]) -> pa.Table:
    draw = random.Random(seed)
    times = sorted(draw.randrange(seed * 10 * SECOND, (seed + 1) * 10 * SECOND) for _ in range(count))
    columns = {
        "ts": pa.array(times, pa.timestamp("us", "UTC")),
        "k": [draw.choice("ab") for _ in times],
        "x": pa.array([draw.randrange(10) for _ in times], pa.int32()),
    }
    return pa.table({**columns, **more})


def in_files(
    world: TableWorld, tables: list[pa.Table], queries: list[dict[str, Any]] = QUERIES
) -> list[list[dict[str, Any]]]:
    """The answers for the same rows in plain Parquet files, one batch each."""
    folder = world.folder / "plain"
    folder.mkdir()
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"{number:04d}.parquet")
    catalog = world.catalog(queries, {"format": "parquet", "path": str(folder)})
    world.evaluate(catalog, "plain_w", 1)
    return world.answers(catalog, "plain_w")


def append_and_widen(world: TableWorld, evaluate: Callable[[], object]) -> list[pa.Table]:
    """Evaluate rows before and after their key and their decimals become wider; return all rows in the wider types."""
    narrow, wide = pa.decimal128(5, 2), pa.decimal128(12, 2)
    small = pa.array([number % 7 - 3 for number in range(40)], pa.int32())
    before = rows(0, d=small.cast(pa.decimal128(12, 2)).cast(narrow))
    large = pa.array([1_000_000_000 if number % 3 else number for number in range(40)], pa.int64())
    after = [rows(number, d=large.cast(pa.decimal128(21, 2)).cast(wide)) for number in (1, 2)]
    after = [table.set_column(2, "x", pa.array([1 << 40, 7] * 20, pa.int64())) for table in after]
    world.append(before)
    evaluate()
    world.widen("x")
    world.widen("d", "decimal(12,2)")
    for table in after:
        world.append(table)
        evaluate()
    before = before.set_column(2, "x", before["x"].cast(pa.int64()))
    return [before.set_column(3, "d", before["d"].cast(wide)), *after]
