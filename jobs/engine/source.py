"""The file lane: Parquet files are read by the tasks themselves, only the columns needed, and never row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from jobs.engine.expressions import evaluate
from jobs.engine.program import ALL, TIME, Program
from jobs.engine.storage import Storage
from optimizer.catalog.expressions import parse
from optimizer.errors import HeddleError

BATCH_ROWS = 1 << 20
LARGE = 64 << 20  # bytes; a larger file is split by its row groups


@dataclass(frozen=True)
class Split:
    """What one task reads at a time: some row groups of a file, all of them when none are named."""

    path: str
    size: int
    row_groups: tuple[int, ...] = ()


def splits_of(files: Sequence[tuple[str, int]], parts: int) -> list[list[Split]]:
    """Splits in at most `parts` heaps of about the same size."""
    heaps: list[list[Split]] = [[] for _ in range(max(1, parts))]
    weights = [0] * len(heaps)
    for split in sorted((s for path, size in files for s in _split(path, size)), key=lambda s: (-s.size, s.path)):
        lightest = weights.index(min(weights))
        heaps[lightest].append(split)
        weights[lightest] += split.size
    return [sorted(heap, key=lambda split: (split.path, split.row_groups)) for heap in heaps if heap]


def _split(path: str, size: int) -> list[Split]:
    if size <= LARGE:
        return [Split(path, size)]
    with opened(path) as file:
        count = file.num_row_groups
    return [Split(path, size // count, (group,)) for group in range(count)]


def opened(path: str, dictionaries: Sequence[str] = ()) -> pq.ParquetFile:
    """A Parquet file, or one line that says why it cannot be read."""
    folder, _, name = path.rpartition("/")
    storage = Storage(folder)
    try:
        return pq.ParquetFile(
            storage.path(name),
            filesystem=storage.filesystem,
            read_dictionary=list(dictionaries),
            coerce_int96_timestamp_unit="us",
        )
    except (OSError, pa.ArrowException) as error:
        raise unreadable(path, error) from None


def unreadable(path: str, error: Exception) -> HeddleError:
    """The one line for a file that cannot be read."""
    reason = str(error).splitlines()[0][:160]
    return HeddleError(f"{path}: cannot be read as Parquet ({reason}); mend or remove the file, then run again")


def columns_needed(program: Program) -> list[str]:
    """The columns of the events that the program reads."""
    keys = {name for grouping in program.groupings for name in grouping.keys if name != ALL}
    read = {
        column.name
        for item in (*program.values, *program.predicates)
        for column in parse(item.sql).find_all(exp.Column)
    }
    return sorted(keys | read | {program.time})


def read_split(split: Split, program: Program) -> Iterator[pa.Table]:
    """The events of a split, a batch of rows at a time."""
    needed = columns_needed(program)
    keys = [name for grouping in program.groupings for name in grouping.keys]
    with opened(split.path) as probe:
        _check(split.path, probe.schema_arrow, needed)
        texts = [
            name
            for name in dict.fromkeys(keys)
            if name != ALL and pa.types.is_string(probe.schema_arrow.field(name).type)
        ]
        groups = list(split.row_groups or range(probe.num_row_groups))
    try:
        with opened(split.path, texts) as file:
            for batch in file.iter_batches(BATCH_ROWS, row_groups=groups, columns=needed, use_threads=False):
                yield pa.Table.from_batches([batch])
    except (OSError, pa.ArrowException) as error:
        raise unreadable(split.path, error) from None


def _check(path: str, schema: pa.Schema, needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in schema.names]
    if missing:
        raise HeddleError(f"{path}: has no column {missing[0]}; it has {', '.join(schema.names)}")


def with_inputs(table: pa.Table, program: Program) -> pa.Table:
    """The columns the fold wants: time, keys, and every input evaluated once."""
    columns: Mapping[str, Any] = {name: table[name] for name in table.column_names}
    out = {name: columns[name] for grouping in program.groupings for name in grouping.keys if name != ALL}
    out[TIME] = columns[program.time]
    for item in (*program.values, *program.predicates):
        out[item.name] = _whole(evaluate(item.sql, columns), table.num_rows)
    return pa.table(out)


def _whole(value: Any, rows: int) -> Any:
    return pa.repeat(value, rows) if isinstance(value, pa.Scalar) else value
