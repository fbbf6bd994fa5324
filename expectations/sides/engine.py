"""The engine's side of an audit: its answers, read from the files that a manifest names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from expectations.sample import by_grouping
from expectations.sides.row import COLUMNS, Answers, make_rows
from jobs.engine.events.columns import microseconds
from jobs.engine.program.program import key_column
from jobs.engine.warehouse.manifest import DataFile
from jobs.engine.warehouse.result_files import QUERY, START, keep_newest, read_values, row_groups_of
from jobs.engine.warehouse.statements import EvaluatedStatement
from jobs.host.storage import Storage
from optimizer.windows.window import BEGINNING

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class EngineAnswers:
    """What was emitted for some statements, by grouping: windows in time that end in a span, all windows in rows."""

    tables: dict[str, pa.Table]
    since: int
    until: int

    def starts(self, statement: EvaluatedStatement, after: int = BEGINNING) -> list[int]:
        """Return where the emitted windows of a statement's first query start that end after a time, in order."""
        table = self._rows_of(statement, statement.first.id)
        starts = np.unique(_starts(table)) if table is not None else np.empty(0, np.int64)
        is_after = statement.window.rows | (starts + statement.window.range > after)
        return [int(start) for start in starts[is_after]]

    def rows(self, statement: EvaluatedStatement, starts: Collection[int] | None = None) -> pd.DataFrame:
        """Return the answers in all windows, or in those with these starts."""
        frames = [self._rows(statement, id, starts) for id in statement.queries]
        filled = [frame for frame in frames if frame is not None]
        return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=COLUMNS, dtype=object)

    def _rows(self, statement: EvaluatedStatement, id: str, starts: Collection[int] | None) -> pd.DataFrame | None:
        table = self._rows_of(statement, id)
        if table is not None and starts is not None:
            table = table.filter(pa.array(np.isin(_starts(table), list(starts))))
        if table is None or not table.num_rows:
            return None
        kind = statement.types[id]
        values = read_values(table, kind)
        keys = [table[key_column(key)] for key in statement.keys]
        return make_rows(statement, _starts(table).tolist(), keys, {id: Answers(values)})

    def _rows_of(self, statement: EvaluatedStatement, id: str) -> pa.Table | None:
        """Return the rows of a query in the windows that it answers and that are looked at."""
        table = self.tables.get(statement.grouping)
        if table is None:
            return None
        table = table.filter(pc.equal(table[QUERY], statement.labels[id]))
        if statement.window.rows:  # which are not counted in time
            return table
        end = _starts(table) + statement.window.range
        return table.filter(pa.array((end > max(self.since, statement.after)) & (end <= self.until)))


def engine_answers(
    storage: Storage, files: Sequence[DataFile], statements: Iterable[EvaluatedStatement], since: int, until: int
) -> EngineAnswers:
    """Read the answers to some statements from the files that hold them."""
    tables = {}
    for grouping, members in by_grouping(statements).items():
        labels = {label for member in members for label in member.labels.values()}
        in_time = [member.window.range for member in members if not member.window.rows]
        first = since - max(in_time) if len(in_time) == len(members) and since > BEGINNING else BEGINNING
        parts = [_read(storage, file.name, labels, first) for file in files if file.grouping == grouping]
        if parts:
            rows = pa.concat_tables(parts, promote_options="permissive")
            keys = [key_column(key) for key in members[0].keys]
            tables[grouping] = keep_newest(rows, [QUERY, *keys, START])
    return EngineAnswers(tables, since, until)


def _read(storage: Storage, name: str, labels: Collection[str], first: int) -> pa.Table:
    """Read the rows of some labels, except for row groups whose windows all start before a time."""
    with pq.ParquetFile(storage.path(name), filesystem=storage.filesystem) as file:
        groups = [group for group in row_groups_of(file, labels) if _last_start(file, group) >= first]
        table = file.read_row_groups(groups)
    label = table[QUERY].cast(pa.string())
    has_label = pc.is_in(label, pa.array(sorted(labels)))
    return table.set_column(table.schema.get_field_index(QUERY), QUERY, label).filter(has_label)


def _last_start(file: pq.ParquetFile, group: int) -> int:
    """Return the largest start of a row group, or the end of time where the file does not tell."""
    metadata = file.metadata.row_group(group)
    for number in range(metadata.num_columns):
        column = metadata.column(number)
        if column.path_in_schema == START and column.statistics is not None and column.statistics.has_min_max:
            return int(microseconds(pa.array([column.statistics.max]))[0])
    return 1 << 62


def _starts(table: pa.Table) -> Ints:
    return microseconds(table[START].combine_chunks()) if table.num_rows else np.empty(0, np.int64)
