"""Files of events in the odd ways that writers have: dictionaries, row groups, kinds of text, narrower types."""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.engine.events import parquet
from jobs.engine.warehouse import consumed_files
from tests.worlds.warehouse import LONG_AGO

TEXTS = ("plain", "encoded", "categories", "twice", "categories twice", "large", "views")
UNUSED = ["not here", "nor here", "a b"]
SMALL_LIMITS = {"MANY": 0, "LARGE": 1, "SMALL": 1, "GATHER": 8, "BATCH_ROWS": 16}  # as of files of many rows
NARROWER = {pa.int64(): pa.int32(), pa.int32(): pa.int8(), pa.float64(): pa.float32()}
OUR_WRITER, OTHER_WRITER = b"parquet-cpp-arrow", b"one nobody knows."


@dataclass(frozen=True)
class OddFiles:
    """How files of events are written, and by which limits they are read."""

    texts: str = "encoded"  # of TEXTS
    rows_per_group: int = 1 << 20
    is_narrower: bool = False  # from the second file on, where the values allow it
    has_small_limits: bool = False

    def write(self, path: Path, number: int, table: pa.Table) -> None:
        """Write the file of a batch."""
        if self.is_narrower and number:
            table = _narrow(table)
        kind = {"large": pa.large_string(), "views": pa.string_view()}.get(self.texts)
        if kind is not None:
            table = pa.table({name: table[name].cast(kind) if _is_text(table, name) else table[name]
                              for name in table.column_names})  # fmt: skip
        groups = [table.slice(start, self.rows_per_group) for start in range(0, len(table), self.rows_per_group)]
        if self.texts in ("categories", "twice", "categories twice"):
            write_dictionaries(path, table.schema, groups, number, "twice" in self.texts, "categories" in self.texts)
        else:
            with pq.ParquetWriter(path, table.schema, use_dictionary=self.texts != "plain") as writer:
                for group in groups:
                    writer.write_table(group)
        os.utime(path, (LONG_AGO + number, LONG_AGO + number))

    @contextmanager
    def limits(self) -> Iterator[None]:
        """Let files be read as if they had many rows, and records of them be as compact as after many batches."""
        if not self.has_small_limits:
            yield
            return
        with patch.multiple(parquet, **SMALL_LIMITS), patch.object(consumed_files, "COMPACT_AT", 2):
            yield

    def features(self) -> Iterator[str]:
        """Yield how the files are written, as words."""
        yield f"texts {self.texts}"
        yield "small row groups" if self.rows_per_group < 100 else "one row group"
        yield "narrower types" if self.is_narrower else "the same types"
        yield "small limits" if self.has_small_limits else "usual limits"


def write_dictionaries(
    path: Path, schema: pa.Schema, groups: Sequence[pa.Table], seed: int, twice: bool, store_schema: bool
) -> None:
    """Write texts by dictionaries of every row group's own: in any order, with values that no row has.

    With `twice`, values stand in them twice, as the format allows and Arrow does not write: it is given another text
    of the same length, which is then overwritten in the file, with the name of the writer. With `store_schema`, the
    file says that its texts are dictionaries, and Arrow reads them as such."""
    pick, pages = random.Random(seed), []
    texts = [name for name in schema.names if pa.types.is_string(schema.field(name).type)]
    kind = pa.dictionary(pa.int32(), pa.string())
    fields = [field.with_type(kind) if field.name in texts else field for field in schema]
    with pq.ParquetWriter(
        path, pa.schema(fields), compression="none", write_statistics=False, store_schema=store_schema
    ) as writer:
        for group in groups:
            for name in texts:
                column, values = dictionary_of(group[name], pick, twice)
                pages.append((column.dictionary.to_pylist(), values))
                group = group.set_column(group.schema.get_field_index(name), name, column)
            writer.write_table(group)
    if twice:
        content, place = path.read_bytes(), 0
        for (
            written,
            meant,
        ) in pages:  # in the file's order: two that are written alike may mean different texts
            page = dictionary_page(meant)
            place = content.index(dictionary_page(written), place)
            content = content[:place] + page + content[place + len(page) :]
            place += len(page)
        path.write_bytes(content.replace(OUR_WRITER, OTHER_WRITER))


def dictionary_of(column: pa.ChunkedArray, pick: random.Random, twice: bool) -> tuple[pa.DictionaryArray, list[str]]:
    """Return texts by a dictionary without nulls, and the values that its entries stand for."""
    values = [*column.unique().drop_null().to_pylist(), *pick.sample(UNUSED, pick.randrange(len(UNUSED)))]
    pick.shuffle(values)
    entries = list(values)
    if twice:
        for value in pick.sample(values, (len(values) + 1) // 2):
            stand_in = _stand_in(value, entries)
            if stand_in is not None:
                entries.append(stand_in)
                values.append(value)
    places: dict[str, list[int]] = {}
    for place, value in enumerate(values):
        places.setdefault(value, []).append(place)
    indices = [None if text is None else pick.choice(places[text]) for text in column.to_pylist()]
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(entries, pa.string())), values


def _stand_in(value: str, entries: Sequence[str]) -> str | None:
    """Return a text with as many bytes as another, which is none of the entries."""
    size = len(value.encode())
    candidates = (chr(code) * size for code in range(33, 127))
    return next((text for text in candidates if text not in entries), None) if size else None


def dictionary_page(values: Sequence[str]) -> bytes:
    """Return the page of a dictionary: every text after its length."""
    return b"".join(struct.pack("<i", len(value.encode())) + value.encode() for value in values)


def _is_text(table: pa.Table, name: str) -> bool:
    return bool(pa.types.is_string(table.schema.field(name).type))


def _narrow(table: pa.Table) -> pa.Table:
    """Return the columns in narrower types that hold all their values."""
    columns = {}
    for name in table.column_names:
        column = table[name]
        narrower = NARROWER.get(column.type)
        if narrower is not None:
            try:
                narrow = column.cast(narrower)
            except pa.ArrowInvalid:
                narrow = column
            column = narrow if narrow.cast(column.type).equals(column) else column
        columns[name] = column
    return pa.table(columns)
