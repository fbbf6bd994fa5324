"""What a sink is given, what it promises, and how it says that it is down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.warehouse.result_files import are_among
from optimizer.catalog.model.query import Sink
from optimizer.errors import HeddleError

BATCH = "batch"


class SinkDownError(Exception):
    """The sink cannot be written now; the next delivery catches up. The text is one line, without secrets."""


class Place(NamedTuple):
    """Which sink is to be opened for which stream's warehouse."""

    sink: Sink
    stream: str
    warehouse: str  # its identity: a table that another one filled is refused
    url: str = ""  # with its credentials: for nobody but the driver of the database


class SinkTable(NamedTuple):
    """The table of a statement: its own columns, then the batch; and which of them tell its rows apart, if they do."""

    name: str
    schema: pa.Schema
    key: tuple[str, ...]


class TableRows(NamedTuple):
    """What a publication brings to a table: rows that are added, once the rows of some keys are gone.

    Texts that repeat may be dictionaries; `plain` has them as the table's schema says."""

    table: SinkTable
    answers: pa.Table
    replaced: pa.Table | None = None  # the key columns of rows that late events have corrected; None: there are none

    @property
    def plain(self) -> pa.Table:
        """The rows that are added, in the types of the table."""
        return self.answers.cast(self.table.schema)

    def drop_replaced(self, rows: pa.Table) -> pa.Table:
        """Return rows of the table without those that are replaced."""
        assert self.replaced is not None
        is_replaced = are_among(flat_keys(self.table, rows), [flat_keys(self.table, self.replaced)])
        return rows.filter(pa.array(~is_replaced))

    def are_rows_of(self, rows: pa.Table, others: pa.Table) -> pa.Array:
        """Return which rows have the key of one of the others."""
        return pa.array(are_among(flat_keys(self.table, rows), [flat_keys(self.table, others)]))


def flat_keys(table: SinkTable, rows: pa.Table) -> pa.Table:
    """Return the columns that tell rows apart, a window by its start."""
    columns = {name: rows[name] for name in table.key}
    return pa.table(
        {
            name: pc.struct_field(column, "start") if pa.types.is_struct(column.type) else column
            for name, column in columns.items()
        }
    )


Rows = Iterable[TableRows]


class OpenSink(Protocol):
    """A sink that can be written. It remembers by itself, in the step that makes rows visible, what it has got."""

    def check(self, tables: Sequence[SinkTable]) -> None:
        """Refuse tables that are there and have other columns, or that something else has filled."""
        ...

    def write(self, number: int, batch: int, rows: Rows) -> None:
        """Write the rows of a publication, or of those of its tables that lack it; called again, it changes nothing."""
        ...


def batch_column(names: Iterable[str]) -> str:
    """Name the column of the batch beside a statement's own.

    >>> batch_column(["k", "n"]), batch_column(["k", "Batch"])
    ('batch', 'heddle_batch')
    """
    return BATCH if BATCH not in {name.lower() for name in names} else f"heddle_{BATCH}"


def column_texts(schema: pa.Schema) -> list[str]:
    """Return columns and types as texts to compare, without what files do not keep: names inside of lists.

    >>> column_texts(pa.schema([("x", pa.list_(pa.large_string()))]))
    ['x list<element: string>']
    """
    texts = (f"{field.name} {field.type}" for field in schema)
    return [text.replace("<item: ", "<element: ").replace("large_", "").replace(" not null", "") for text in texts]


def refuse_columns(place: Place, table: SinkTable, there: Sequence[str], expected: Sequence[str]) -> None:
    """Refuse a table that is there with other columns; both are texts like "k string"."""
    if list(there) == list(expected):
        return
    strange = [column for column in there if column not in expected]
    missing = [column for column in expected if column not in there]
    what = f"has {strange[0]}" if strange else f"lacks {missing[0]}" if missing else "has its columns in another order"
    raise HeddleError(
        f"sink {place.sink.name}: the table {table.name} {what}; "
        "nothing was written to it: rename the query, or move the table out of the way"
    )


def refuse_stranger(place: Place, table: str) -> HeddleError:
    """Return the error of a table that something else has filled."""
    return HeddleError(
        f"sink {place.sink.name}: {table} was filled by something else than this warehouse; "
        "nothing was written to it: move it out of the way, or name another place"
    )
