"""The file lane: Parquet files are read by the tasks themselves, only the columns needed, and never row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from sqlglot import exp

from jobs.engine.events.expressions import CachedColumns, evaluate, evaluate_some, parse_cached
from jobs.engine.events.predicate_index import index_predicates, truth_of
from jobs.engine.program.program import ALL, TIME, Input, Program
from jobs.engine.program.spark_types import INSTANT, can_widen, plain_type
from jobs.host.storage import Storage
from optimizer.catalog.spark_types.parquet import int96_columns, names_alike
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
    """Return the splits of some files (path, bytes) in at most `parts` heaps of about the same size.

    >>> [[split.path for split in heap] for heap in splits_of([("a", 3), ("b", 2), ("c", 2)], 2)]
    [['a'], ['b', 'c']]
    """
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
    with open_parquet(path) as file:
        count = file.num_row_groups
    return [Split(path, size // count, (group,)) for group in range(count)]


def open_parquet(path: str, dictionaries: Sequence[str] = ()) -> pq.ParquetFile:
    """Open a Parquet file, or raise one line that says why it cannot be read."""
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
        raise unreadable_error(path, error) from None


def event_schema(path: str, file: pq.ParquetFile) -> pa.Schema:
    """Return the columns of an open file as Spark reads them; refuse those that are one to Spark, but two here."""
    schema = file.schema_arrow
    alike = names_alike(schema.names)
    if alike:
        raise HeddleError(f"{path}: the columns {' and '.join(alike)} are one to Spark; rename one of them")
    for name in int96_columns(file):
        schema = schema.set(schema.get_field_index(name), pa.field(name, INSTANT))
    return schema


def unreadable_error(path: str, error: Exception) -> HeddleError:
    """Return the error, one line, for a file that cannot be read."""
    reason = str(error).splitlines()[0][:160]
    return HeddleError(f"{path}: cannot be read as Parquet ({reason}); mend or remove the file, then run again")


def columns_needed(program: Program) -> list[str]:
    """Return the columns of the events that the program reads."""
    keys = {name for grouping in program.groupings for name in grouping.keys if name != ALL}
    read = {
        column.parts[0].name
        for item in (*program.values, *program.predicates)
        for column in parse_cached(item.sql).find_all(exp.Column)
    }
    shown = {name for query in program.unshared for name in query.columns}
    return sorted(keys | read | shown | {program.time})


def read_split(split: Split, program: Program, earlier: bool = False) -> Iterator[pa.Table]:
    """Yield the events of a split, a batch of rows at a time; with `earlier`, columns that a file lacks are null."""
    needed = columns_needed(program)
    keys = [name for grouping in program.groupings for name in grouping.keys]
    with open_parquet(split.path) as probe:
        schema = event_schema(split.path, probe)
        absent = [name for name in needed if earlier and name not in schema.names]
        needed = [name for name in needed if name not in absent]
        instants = {name: INSTANT for name in int96_columns(probe) if name in needed}
        types = instants | _wider_types(split.path, schema, needed, program)
        texts = [name for name in dict.fromkeys(keys) if name in needed and pa.types.is_string(schema.field(name).type)]
        groups = list(split.row_groups or range(probe.num_row_groups))
    try:
        with open_parquet(split.path, texts) as file:
            for batch in file.iter_batches(BATCH_ROWS, row_groups=groups, columns=needed, use_threads=False):
                yield _with_nulls(_cast(pa.Table.from_batches([batch]).select(needed), types), absent, program)
    except (OSError, pa.ArrowException) as error:
        raise unreadable_error(split.path, error) from None


def _wider_types(path: str, schema: pa.Schema, needed: Sequence[str], program: Program) -> dict[str, pa.DataType]:
    """Return the types to cast to where this file has narrower ones than the first; refuse any other difference."""
    widened = {}
    for name in needed:
        if name not in schema.names:
            raise HeddleError(f"{path}: has no column {name}; it has {', '.join(schema.names)}")
        kind = plain_type(schema.field(name).type)
        wanted = program.columns.get(name, kind)
        if kind != wanted and not can_widen(kind, wanted):
            raise HeddleError(f"{path}: column {name} is {kind}; write it as {wanted}, as it was in the files before")
        if kind != wanted:
            widened[name] = wanted
    return widened


def _cast(table: pa.Table, types: Mapping[str, pa.DataType]) -> pa.Table:
    for name, kind in types.items():
        table = table.set_column(table.schema.get_field_index(name), name, table[name].cast(kind))
    return table


def _with_nulls(table: pa.Table, absent: Sequence[str], program: Program) -> pa.Table:
    for name in absent:
        table = table.append_column(name, pa.nulls(table.num_rows, program.columns[name]))
    return table


def with_inputs(table: pa.Table, program: Program) -> pa.Table:
    """Return the columns the fold needs: time, keys, and every input evaluated once."""
    columns = CachedColumns({name: table[name] for name in table.column_names})
    out = {name: columns[name] for grouping in program.groupings for name in grouping.keys if name != ALL}
    out[TIME] = columns[program.time]
    out |= index_predicates(program.predicates, columns)
    for item in program.predicates:
        if item.name not in out:
            truth = _evaluate_or_refuse(item, lambda sql: evaluate(sql, columns))
            out[item.name] = _repeat_scalar(truth, table.num_rows)
    for item in program.values:
        out[item.name] = _repeat_scalar(_value(item, columns, program, out), table.num_rows)
    return pa.table(out)


def _value(item: Input, columns: Mapping[str, Any], program: Program, out: Mapping[str, Any]) -> Any:
    try:
        return evaluate(item.sql, columns)
    except pa.ArrowInvalid:  # Spark refuses only the rows that it has to look at
        return _evaluate_or_refuse(item, lambda sql: evaluate_some(sql, columns, _rows_needed(item, program, out)))


def _evaluate_or_refuse(item: Input, evaluation: Callable[[str], Any]) -> Any:
    try:
        return evaluation(item.sql)
    except pa.ArrowInvalid as error:
        raise HeddleError(f"{item.sql}: {error}, and Spark would refuse it too; cast to double first") from None


def _rows_needed(item: Input, program: Program, out: Mapping[str, Any]) -> Any:
    """Return the rows that some query aggregates: they have a time, and pass its predicate."""
    rows = np.zeros(len(out[TIME]), np.bool_)
    for where in program.wheres(item.name):
        rows |= truth_of(out[where]) if where else True
    return rows & np.asarray(pc.is_valid(out[TIME]))


def _repeat_scalar(value: Any, rows: int) -> Any:
    return pa.repeat(value, rows) if isinstance(value, pa.Scalar) else value
