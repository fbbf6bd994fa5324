"""The newest published answers of every query of a stream, for the small charts; one pass over the newest files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.engine.program.program import key_column
from jobs.engine.warehouse.ledger import Ledger
from jobs.engine.warehouse.manifest import DataFile, Manifest
from jobs.engine.warehouse.result_files import QUERY, START, keep_newest
from jobs.engine.warehouse.statements import EvaluatedStatement, PublishedFiles, evaluated_statement
from jobs.host.storage import Storage
from optimizer.catalog.model.catalog import Catalog
from plugins.heddle_page.read.batches import instant

WINDOWS = 24  # of a key, the newest
KEYS = 3  # that have a chart of their own
ROWS = 2_000_000  # of the newest files that are read


@dataclass(frozen=True)
class Series:
    """The newest values of one key, the oldest first; None where a window's answer is null."""

    key: str
    values: tuple[float | None, ...]

    @property
    def newest(self) -> float | None:
        """The value of the last window."""
        return self.values[-1] if self.values else None


@dataclass(frozen=True)
class Answers:
    """What a statement has answered last: up to when, for how many keys, and the values of a few of them."""

    until: datetime | None
    keys: int
    series: tuple[Series, ...]


def newest_answers(
    storage: Storage, manifest: Manifest, ledger: Ledger, catalog: Catalog, stream: str
) -> dict[str, Answers]:
    """Return the newest answers of every statement that has published some."""
    ids = dict.fromkeys(catalog.of_stream(stream).statements.to_pylist())
    statements = [each for id in ids if (each := evaluated_statement(catalog, id, manifest.types)) is not None]
    groupings = dict.fromkeys(statement.grouping for statement in statements)
    files = {name: newest_files(ledger.public(manifest.results), name) for name in groupings}
    answers: dict[str, Answers] = {}
    for grouping, newest in files.items():
        own = [statement for statement in statements if statement.grouping == grouping]
        by_label = _rows_by_label(storage.root, tuple(file.name for file in newest))
        for statement in own:
            rows = by_label.get(next(iter(statement.labels.values())))
            if rows is not None and rows.num_rows:
                answers[statement.statement.id] = _answers(statement, rows)
    return answers


def key_text(values: Iterable[object]) -> str:
    """Return the values of a key, joined, as a reader of SQL knows them.

    >>> key_text(["berlin", None, 7])
    'berlin, null, 7'
    """
    return ", ".join("null" if value is None else str(value) for value in values)


def newest_files(files: Iterable[DataFile], grouping: str, rows: int = ROWS) -> list[DataFile]:
    """Return the files of a grouping that the newest batches wrote: one batch at least, as many as have few rows."""
    by_batch: dict[int, list[DataFile]] = {}
    for file in files:
        if file.grouping == grouping:
            by_batch.setdefault(file.batch, []).append(file)
    newest: list[DataFile] = []
    for batch in sorted(by_batch, reverse=True):
        own = by_batch[batch]
        if newest and sum(file.rows for file in [*newest, *own]) > rows // 8:
            break
        newest += own
    return newest


def recent_files(published: PublishedFiles, rows: int = ROWS) -> PublishedFiles:
    """Return a statement's published files without those that are too old to be looked at."""
    return published._replace(files=tuple(newest_files(published.files, published.statement.grouping, rows)))


@lru_cache(maxsize=8)
def _rows_by_label(root: str, names: tuple[str, ...]) -> dict[str, pa.Table]:
    """Read result files, which never change, and part their rows by query."""
    storage = Storage(root)
    parts: dict[str, list[pa.Table]] = {}
    for name in names:
        try:
            with pq.ParquetFile(storage.path(name), filesystem=storage.filesystem) as file:
                table = file.read()
        except OSError:  # a run has merged it meanwhile
            continue
        for label, rows in _by_label(table):
            parts.setdefault(label, []).append(rows)
    return {label: pa.concat_tables(tables, promote_options="permissive") for label, tables in parts.items()}


def _by_label(table: pa.Table) -> Iterable[tuple[str, pa.Table]]:
    labels = table[QUERY].cast(pa.string()).combine_chunks().dictionary_encode()
    order = pc.array_sort_indices(labels.indices)
    counts = {row["values"]: row["counts"] for row in pc.value_counts(labels.indices).to_pylist()}
    ordered, start = table.take(order), 0
    for code in sorted(counts):
        yield labels.dictionary[code].as_py(), ordered.slice(start, counts[code])
        start += counts[code]


def _answers(statement: EvaluatedStatement, rows: pa.Table) -> Answers:
    """Return the newest windows of the first few keys."""
    from jobs.engine.warehouse.result_files import read_values

    window, id = statement.window, next(iter(statement.labels))
    rows = keep_newest(rows, [*(key_column(key) for key in statement.keys), START])
    starts = rows[START].cast(pa.int64())
    last = pc.max(starts).as_py()
    keys = [key_column(key) for key in statement.keys]
    values = read_values(rows, statement.types[id])
    recent = pc.greater(starts, last - WINDOWS * window.slide) if not window.rows else None
    table = pa.table({"start": starts, "value": _as_numbers(values), **{key: rows[key] for key in keys}})
    table = (table if recent is None else table.filter(recent)).sort_by("start")
    by_key: dict[str, list[float | None]] = {}
    for row in table.to_pylist():
        by_key.setdefault(key_text(row[key] for key in keys), []).append(row["value"])
    series = [Series(key, tuple(by_key[key][-WINDOWS:])) for key in sorted(by_key, key=_natural)[:KEYS]]
    return Answers(None if window.rows else instant(last + window.range), len(by_key), tuple(series))


def _as_numbers(values: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """Return values as a chart takes them; what is no number is null."""
    kind = values.type
    if pa.types.is_boolean(kind):
        return values.cast(pa.int8()).cast(pa.float64())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return values.cast(pa.float64(), safe=False)
    return pa.nulls(len(values), pa.float64())


def _natural(key: str) -> tuple[int, str]:
    """Sort by length first, so that numbers come in their order.

    >>> sorted(["10", "9", "a"], key=_natural)
    ['9', 'a', '10']
    """
    return len(key), key


def spark_points(values: Sequence[float | None], width: float, height: float) -> list[tuple[float, float]]:
    """Return where the values of a series are in a chart of a size; values that are null or no number are left out.

    >>> spark_points([1.0, 3.0, None, 2.0], 30, 10)
    [(0.0, 10.0), (10.0, 0.0), (30.0, 5.0)]
    """
    numbers = [(place, value) for place, value in enumerate(values) if value is not None and abs(value) < 1e300]
    numbers = [(place, value) for place, value in numbers if value == value]
    if not numbers:
        return []
    low, high = min(value for _, value in numbers), max(value for _, value in numbers)
    step, span = width / max(len(values) - 1, 1), (high - low) or 1.0
    flat = height / 2 if high == low else None
    return [
        (round(place * step, 1), round(height - (value - low) / span * height if flat is None else flat, 1))
        for place, value in numbers
    ]
