"""The file lane: Parquet files are read by the tasks themselves, only the columns needed, and never row by row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.engine.events.expressions import CachedColumns, advise, evaluate, evaluate_some
from jobs.engine.events.parquet_file import (
    event_schema,
    folder_constants,
    open_parquet,
    read_whole,
    table_constants,
    unreadable_error,
    view_types,
    with_constants,
    writes_values_once,
)
from jobs.engine.events.predicate_index import index_predicates, truth_of
from jobs.engine.program.program import TIME, Input, Program, key_column
from jobs.engine.program.spark_types import INSTANT, can_widen, plain_type
from jobs.engine.sources.contract import File
from optimizer.catalog.spark_types.parquet import int96_columns
from optimizer.errors import HeddleError

BATCH_ROWS = 1 << 20
LARGE = 64 << 20  # bytes; a larger file is split by its row groups
SMALL = 1 << 20  # bytes; a smaller file is read at once
MANY = 4_000  # rows; in a smaller file, dictionaries of texts take longer to read than they save
GROUP_ROWS = 1_000_000  # of a row group that splits well
UNEVEN = 1.5  # of the mean work of a task: more leaves the others idle
GATHER = 1 << 18  # rows: smaller tables are evaluated and folded together


@dataclass(frozen=True)
class Split:
    """What one task reads at a time: some row groups of a file, all of them when none are named."""

    path: str
    size: int
    row_groups: tuple[int, ...] = ()
    values: str = ""  # of columns that a table keeps beside the file


def split_of(file: File) -> Split:
    """Return a whole file as one split."""
    return Split(file.path, file.size, (), file.values)


def splits_of(files: Sequence[File], parts: int) -> list[list[Split]]:
    """Return the splits of some files in at most `parts` heaps of about the same size.

    >>> [[split.path for split in heap] for heap in splits_of([File("a", 3), File("b", 2), File("c", 2)], 2)]
    [['a'], ['b', 'c']]
    """
    heaps: list[list[Split]] = [[] for _ in range(max(1, parts))]
    weights = [0] * len(heaps)
    for split in sorted((s for file in files for s in _split(file)), key=lambda s: (-s.size, s.path)):
        lightest = weights.index(min(weights))
        heaps[lightest].append(split)
        weights[lightest] += split.size
    return [sorted(heap, key=lambda split: (split.path, split.row_groups)) for heap in heaps if heap]


def _split(file: File) -> list[Split]:
    if file.size <= LARGE:
        return [split_of(file)]
    with open_parquet(file.path) as opened:
        count = opened.num_row_groups
    return [Split(file.path, file.size // count, (group,), file.values) for group in range(count)]


def name_long_groups(heaps: Sequence[Sequence[Split]], tasks: int) -> list[str]:
    """Return a line for every large row group that one of so many tasks has to read alone while others wait."""
    fair = sum(split.size for heap in heaps for split in heap) / max(1, tasks)
    alone = (heap[0] for heap in heaps if len(heap) == 1 and len(heap[0].row_groups) == 1)
    return [_long_group(split) for split in alone if split.size > max(LARGE, UNEVEN * fair)]


def _long_group(split: Split) -> str:
    with open_parquet(split.path) as opened:
        rows = opened.metadata.row_group(split.row_groups[0]).num_rows
    return (
        f"{split.path}: {rows:,} events ({split.size >> 20} MB) in one row group, which one task reads while others "
        f"wait; write row groups of about {GROUP_ROWS:,} rows (pyarrow: row_group_size, Spark: parquet.block.size)"
    )


def read_split(split: Split, program: Program) -> Iterator[pa.Table]:
    """Yield the events of a split, a batch of rows at a time."""
    return EventReader(program).read(split)


class Layout(NamedTuple):
    """What is read of files with the same schema: columns, the types to cast some to, and what such files lack."""

    needed: list[str]
    read: list[str]  # what the files call them
    types: dict[str, pa.DataType]
    absent: list[str]
    texts: list[str]  # keys whose dictionaries number them already


class EventReader:
    """Reads what a program needs, split by split; what files have in common is looked at once."""

    def __init__(self, program: Program, earlier: bool = False) -> None:
        self.program, self.earlier = program, earlier  # earlier: columns that a file lacks are null
        self.needed = program.columns_needed
        self.layouts: dict[tuple[pa.Schema, tuple[str, ...]], Layout] = {}
        self.last: tuple[pa.Schema, tuple[str, ...], Layout] | None = None  # of the file before

    def read(self, split: Split) -> Iterator[pa.Table]:
        """Yield the events of a split, a batch of rows at a time."""
        constants = folder_constants(split.path, self.program, self.needed)
        constants |= table_constants(split.path, split.values, self.program, self.needed)
        content = read_whole(split.path) if split.size <= SMALL else None
        with open_parquet(split.path, content=content) as file:
            layout = self._layout(split.path, file, tuple(constants))
            constants = {name: value for name, value in constants.items() if name not in layout.needed}
            groups = list(split.row_groups or range(file.num_row_groups))
            rows = file.metadata.num_rows
            texts = layout.texts if rows >= MANY and writes_values_once(file.metadata.created_by) else []
            try:
                with open_parquet(split.path, texts, file.metadata, content) if texts else nullcontext(file) as reader:
                    if content is not None and rows <= BATCH_ROWS:  # a reader of batches costs more
                        if rows:
                            table = reader.read_row_groups(groups, columns=layout.read, use_threads=False)
                            yield with_constants(self._table(table, layout), constants)
                        return
                    for batch in reader.iter_batches(
                        BATCH_ROWS, row_groups=groups, columns=layout.read, use_threads=False
                    ):
                        yield with_constants(self._table(pa.Table.from_batches([batch]), layout), constants)
            except (OSError, pa.ArrowException) as error:
                raise unreadable_error(split.path, error) from None

    def _table(self, table: pa.Table, layout: Layout) -> pa.Table:
        if table.column_names != layout.read:
            table = table.select(layout.read)
        if layout.read != layout.needed:
            table = table.rename_columns(layout.needed)
        return _with_nulls(_cast(table, layout.types), layout.absent, self.program)

    def _layout(self, path: str, file: pq.ParquetFile, by_folder: tuple[str, ...]) -> Layout:
        raw = file.schema_arrow
        by_id = bool(self.program.table and self.program.table.ids)  # ids are metadata, which equal schemas differ in
        if self.last and self.last[1] == by_folder and self.last[0].equals(raw, by_id):  # far cheaper than its hash
            return self.last[2]
        if by_id or (raw, by_folder) not in self.layouts:
            layout = self._new_layout(path, event_schema(path, file), by_folder, view_types(raw))
            if any(pa.types.is_timestamp(kind) and not kind.tz for kind in raw.types):  # it may be INT96 in one file
                instants = {name: INSTANT for name in int96_columns(file) if name in layout.needed}
                return layout._replace(types=instants | layout.types)
            self.layouts[raw, by_folder] = layout
        self.last = raw, by_folder, self.layouts[raw, by_folder]
        return self.last[2]

    def _new_layout(
        self, path: str, schema: pa.Schema, by_folder: tuple[str, ...], views: Mapping[str, pa.DataType]
    ) -> Layout:
        table = self.program.table
        own = dict(zip(schema.names, schema.names, strict=True)) if table is None else table.find(schema)
        schema = pa.schema([schema.field(physical).with_name(name) for name, physical in own.items()])
        beside = [] if table is None else [name for name in by_folder if name in own]  # the file has it after all
        from_file = [name for name in self.needed if name not in by_folder or name in beside]
        may_lack = self.earlier or table is not None
        absent = [name for name in from_file if may_lack and name not in own]
        needed = [name for name in from_file if name not in absent]
        wider = _wider_types(path, schema, needed, self.program)  # refuses what a file lacks
        types = {name: views[own[name]] for name in needed if own[name] in views} | wider
        texts = [own[name] for name in _texts(schema, needed, self.program) if own[name] not in views]
        return Layout(needed, [own[name] for name in needed], types, absent, texts)


def _texts(schema: pa.Schema, needed: Collection[str], program: Program) -> list[str]:
    """Return the keys that are texts: their dictionaries number them already."""
    keys = dict.fromkeys(name for grouping in program.groupings for name in grouping.keys)
    return [name for name in keys if name in needed and pa.types.is_string(schema.field(name).type)]


Part = TypeVar("Part")


def gather_tables(parts: Iterable[tuple[Part, pa.Table]]) -> Iterator[tuple[list[tuple[Part, int]], pa.Table]]:
    """Yield the tables joined to larger ones, each with the parts that it is made of and their numbers of rows.

    >>> small, other = pa.table({"n": [1, 2]}), pa.table({"n": ["a"]})
    >>> [(parts, table.num_rows) for parts, table in gather_tables([("a", small), ("b", small), ("c", other)])]
    [([('a', 2), ('b', 2)], 4), ([('c', 1)], 1)]
    """
    tables: list[pa.Table] = []
    made_of: list[tuple[Part, int]] = []
    rows = 0
    for part, table in parts:
        if tables and (rows >= GATHER or table.schema != tables[0].schema):
            yield made_of, _join(tables)
            tables, made_of, rows = [], [], 0
        tables.append(table)
        made_of.append((part, table.num_rows))
        rows += table.num_rows
    if tables:
        yield made_of, _join(tables)


def _join(tables: Sequence[pa.Table]) -> pa.Table:
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables).combine_chunks()


def _wider_types(path: str, schema: pa.Schema, needed: Sequence[str], program: Program) -> dict[str, pa.DataType]:
    """Return the types to cast to where this file has narrower ones than the first; refuse any other difference."""
    widened = {}
    for name in needed:
        if name not in schema.names:
            raise HeddleError(f"{path}: has no column {name}; it has {', '.join(schema.names)}")
        kind = plain_type(schema.field(name).type)
        before = program.columns.get(name, kind)
        if kind != before and not can_widen(kind, before):
            raise HeddleError(f"{path}: column {name} is {kind}; write it as {before}, as it was in the files before")
        if kind != before:
            widened[name] = before
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
    columns = CachedColumns({name: table[name] for name in table.column_names}, program.zone)
    out = {key_column(name): columns[name] for grouping in program.groupings for name in grouping.keys}
    out[TIME] = columns[program.time]
    out |= index_predicates(program.predicates, columns, program.zone)
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
        raise HeddleError(f"{item.sql}: {error}, and Spark would refuse it too; {advise(error)}") from None


def _rows_needed(item: Input, program: Program, out: Mapping[str, Any]) -> Any:
    """Return the rows that some query aggregates: they have a time, and pass its predicate."""
    rows = np.zeros(len(out[TIME]), np.bool_)
    for where in program.wheres(item.name):
        rows |= truth_of(out[where]) if where else True
    return rows & np.asarray(pc.is_valid(out[TIME]))


def _repeat_scalar(value: Any, rows: int) -> Any:
    return pa.repeat(value, rows) if isinstance(value, pa.Scalar) else value
