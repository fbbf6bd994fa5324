"""Iceberg tables, one per statement; a property of the snapshot makes a batch exist once.

The catalog is one of pyiceberg's own configuration (its credentials are in the environment, as
PYICEBERG_CATALOG__NAME__...), or a folder that holds both a catalog, in SQLite, and the tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

from jobs.engine.warehouse.result_files import are_among
from jobs.host.stops import step
from jobs.sinks.contract import (
    Place,
    Rows,
    SinkTable,
    TableRows,
    column_texts,
    flat_keys,
    refuse_columns,
    refuse_stranger,
)

if TYPE_CHECKING:
    from pyiceberg.table import Table, Transaction

WAREHOUSE, NUMBER, BATCH = "heddle.warehouse", "heddle.publication", "heddle.batch"
NAMESPACE = "heddle"


def open_sink(place: Place) -> IcebergSink:
    """Open the catalog."""
    if place.sink.catalog:
        return IcebergSink(place, load_catalog(place.sink.catalog))
    folder = Path(place.sink.path)
    folder.mkdir(parents=True, exist_ok=True)
    properties = {"type": "sql", "uri": f"sqlite:///{folder}/catalog.db", "warehouse": folder.as_uri()}
    return IcebergSink(place, load_catalog("heddle", **properties))


class IcebergSink:
    """A namespace of a catalog with a table per statement."""

    def __init__(self, place: Place, catalog: Catalog) -> None:
        self.place, self.catalog = place, catalog
        self.namespace = place.sink.namespace or NAMESPACE

    def check(self, tables: Sequence[SinkTable]) -> None:
        """Refuse tables with other columns, or with rows of someone else."""
        self.catalog.create_namespace_if_not_exists(self.namespace)
        for table in tables:
            there = self._open(table.name)
            if there is None:
                continue
            columns = column_texts(there.schema().as_arrow()), column_texts(_storable(table.schema))
            refuse_columns(self.place, table, *columns)
            strange = there.properties.get(WAREHOUSE, self.place.warehouse) != self.place.warehouse
            if strange or (WAREHOUSE not in there.properties and there.current_snapshot()):
                raise refuse_stranger(self.place, f"the table {table.name}")

    def write(self, number: int, batch: int, rows: Rows) -> None:
        """Append the rows of every table that lacks them: rows and properties appear by one commit."""
        for table, answers, replaced in rows:
            there = self._open(table.name)
            if not (answers.num_rows or replaced is not None) or (
                there and int(there.properties.get(NUMBER, -1)) >= number
            ):
                continue
            schema = _storable(table.schema)
            there = there or self.catalog.create_table((self.namespace, table.name), schema)
            step("sink written")
            properties = {WAREHOUSE: self.place.warehouse, NUMBER: str(number), BATCH: str(batch)}
            with there.transaction() as transaction:
                if replaced is None:
                    transaction.append(answers.cast(schema), snapshot_properties=properties)
                else:
                    _replace_rows(transaction, there, TableRows(table, answers.cast(schema), replaced), properties)
                # of the table, too: snapshots expire
                transaction.set_properties({WAREHOUSE: self.place.warehouse, NUMBER: str(number)})
            step("sink committed")

    def _open(self, name: str) -> Table | None:
        try:
            return self.catalog.load_table((self.namespace, name))
        except (NoSuchTableError, NoSuchNamespaceError):
            return None


def _replace_rows(transaction: Transaction, there: Table, rows: TableRows, properties: dict[str, str]) -> None:
    """Write the batches that hold replaced rows again, without these and with those that take their place."""
    batch = rows.table.schema.names[-1]
    keys = there.scan(selected_fields=(*rows.table.key, batch)).to_arrow()
    is_replaced = are_among(flat_keys(rows.table, keys), [flat_keys(rows.table, _storable_table(rows.replaced))])
    batches = pc.unique(keys[batch].filter(pa.array(is_replaced))).to_pylist()
    if not batches:
        transaction.append(rows.answers, snapshot_properties=properties)
        return
    of_batches = f"{batch} IN ({', '.join(map(str, batches))})"
    others = rows._replace(replaced=_storable_table(rows.replaced)).drop_replaced(
        there.scan(row_filter=of_batches).to_arrow()
    )
    whole = pa.concat_tables([others.cast(rows.answers.schema), rows.answers])
    transaction.overwrite(whole, overwrite_filter=of_batches, snapshot_properties=properties)


def _storable_table(table: pa.Table | None) -> pa.Table:
    assert table is not None
    return table.cast(_storable(table.schema))


def _storable(schema: pa.Schema) -> pa.Schema:
    """Return a schema in types that Iceberg has: its smallest integer has 32 bits."""
    small = (pa.int8(), pa.int16())
    return pa.schema([field.with_type(pa.int32()) if field.type in small else field for field in schema])
