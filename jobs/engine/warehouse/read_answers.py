"""A statement's answers as an Arrow table with the columns of its SQL, without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.engine.events.arrow import to_array
from jobs.engine.events.expressions import NotExact, advise, evaluate
from jobs.engine.program.program import key_column
from jobs.engine.program.spark_types import INSTANT
from jobs.engine.warehouse.manifest import DataFile
from jobs.engine.warehouse.result_files import (
    QUERY,
    REVISION,
    START,
    keep_newest,
    number_revisions,
    read_values,
    row_groups_of,
    value_column,
    value_types,
)
from jobs.engine.warehouse.statements import EvaluatedStatement, PublishedFiles
from jobs.host.storage import Storage
from optimizer.catalog.model.query import Column
from optimizer.errors import HeddleError

LEAST_REPEATS = 8  # rows to an entry of a dictionary that is passed on


def read_answers(published: PublishedFiles, revisions: bool = False) -> pa.Table:
    """Read every published row of a statement, in the order of window and keys: the newest revision of each, or all
    of them, with a column that numbers them."""
    statement = published.statement
    parts = [part for file in published.files if (part := _read_file(published, file.name)).num_rows]
    rows = join_queries(statement, [_pick_revisions(statement, parts, revisions)] if parts else [], revisions)
    order = [(START, "ascending"), *((key_column(key), "ascending") for key in statement.keys)]
    rows = rows.sort_by([*order, (REVISION, "ascending")] if revisions else order)
    return show_columns(statement, rows)


def _pick_revisions(statement: EvaluatedStatement, parts: Sequence[pa.Table], all_of_them: bool) -> pa.Table:
    """Return the rows of a statement in their newest revision; or in every one, numbered from 0 on."""
    rows = pa.concat_tables(parts, promote_options="default")
    row_keys = [*(key_column(key) for key in statement.keys), START]
    if not all_of_them:
        newest = keep_newest(rows, row_keys)
        return newest.drop_columns([REVISION]) if REVISION in newest.column_names else newest
    if REVISION not in rows.column_names:
        return rows.append_column(REVISION, pa.repeat(pa.scalar(0, pa.int64()), rows.num_rows))
    numbers, _ = number_revisions(rows, row_keys)
    return rows.set_column(rows.column_names.index(REVISION), REVISION, pa.array(numbers))


def read_by_statement(
    storage: Storage,
    files: Sequence[DataFile],
    statements: Sequence[EvaluatedStatement],
    filtered: bool = True,
    revised_after: int | None = None,
) -> Iterator[tuple[EvaluatedStatement, pa.Table]]:
    """Yield the answers that some files have of each statement, in no order; every file is read once.

    They are `filtered` by the statement's HAVING, or all that there are. With `revised_after`, only revisions are read
    that later batches than this one made. Texts that repeat may come as dictionaries, as the files have them."""
    texts = {
        statement.grouping: [key_column(key) for key, kind in statement.key_types.items() if pa.types.is_string(kind)]
        for statement in statements
    }
    parts: dict[tuple[str, str], list[pa.Table]] = {}
    for file in files:
        if file.grouping in texts:
            encoded = [QUERY, *texts[file.grouping]]
            path, filesystem = storage.path(file.name), storage.filesystem
            table = pq.read_table(path, filesystem=filesystem, partitioning=None, read_dictionary=encoded)
            if revised_after is not None:
                table = table.filter(pc.greater(table[REVISION], revised_after))
            for label, rows in split_by_label(table):
                parts.setdefault((file.grouping, label), []).append(rows)
    for statement in statements:
        labels = dict.fromkeys(statement.labels.values())  # two of its queries may be the same
        own = [part for label in labels for part in parts.get((statement.grouping, label), ())]
        is_encoded = _may_stay_encoded(statement, own)
        read = [_read_rows(statement, part, is_encoded) for part in own]
        rows = join_queries(statement, [_pick_revisions(statement, read, all_of_them=False)] if read else [])
        yield statement, show_columns(statement, rows, filtered)


def split_by_label(table: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Yield the rows of each query by its label; rows that stand together are not copied."""
    labels = to_array(table[QUERY].unify_dictionaries()).dictionary_encode()  # which a dictionary is already
    codes = labels.indices.to_numpy(zero_copy_only=False)
    changes = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    if len(changes) >= len(labels.dictionary):  # some query's rows are in several places
        order = np.argsort(codes, kind="stable")
        table, codes = table.take(pa.array(order)), codes[order]
        changes = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    ends = [*changes.tolist(), len(codes)]
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        if end > start:
            yield labels.dictionary[int(codes[start])].as_py(), table.slice(start, end - start)


def join_queries(statement: EvaluatedStatement, parts: Sequence[pa.Table], revisions: bool = False) -> pa.Table:
    """Return one row per key and window, and per revision where these are numbered, of tables with one per query."""
    schema = _schema(statement).append(pa.field(REVISION, pa.int64())) if revisions else _schema(statement)
    rows = pa.concat_tables(parts) if parts else schema.empty_table()
    return _side_by_side(statement, rows, revisions) if len(statement.queries) > 1 else rows


def show_columns(statement: EvaluatedStatement, rows: pa.Table, filtered: bool = True) -> pa.Table:
    """Return the columns of the user's SQL, of rows with the keys, the window's start and an answer per query."""
    columns = statement.statement.columns
    arrays = [_column(statement, rows, column) for column in columns]
    answers = pa.table(arrays, names=[column.name for column in columns])
    if REVISION in rows.column_names:
        answers = answers.append_column(revision_column(answers.column_names), rows[REVISION])
    return pass_condition(answers, statement.statement.having) if filtered else answers


def shown_schema(statement: EvaluatedStatement) -> pa.Schema:
    """Return the columns of the user's SQL with their types."""
    return pa.schema([(column.name, _type_of(statement, column)) for column in statement.statement.columns])


def _type_of(statement: EvaluatedStatement, column: Column) -> pa.DataType:
    if column.kind == "answer":
        return statement.types[column.source]
    if column.kind == "key":
        return statement.key_types[column.source]
    instant = statement.instant
    return pa.struct([("start", instant), ("end", instant)]) if column.source == "window" else instant


def revision_column(names: Iterable[str]) -> str:
    """Name the column that numbers revisions beside a statement's own.

    >>> revision_column(["k", "n"]), revision_column(["k", "Revision"])
    ('revision', 'heddle_revision')
    """
    return REVISION if REVISION not in {name.lower() for name in names} else f"heddle_{REVISION}"


def pass_condition(answers: pa.Table, condition: str) -> pa.Table:
    """Return the answers that pass a condition over their columns; all pass ""."""
    if not condition or not answers.num_rows:
        return answers
    try:
        passes = evaluate(condition, {name: to_array(answers[name]) for name in answers.column_names})
    except NotExact as reason:
        raise HeddleError(f"the condition {condition}: only Spark evaluates {reason}; use read_results") from None
    except pa.ArrowInvalid as error:
        raise HeddleError(f"the condition {condition}: {error}; {advise(error)}") from None
    if passes.type != pa.bool_():
        raise HeddleError(f"the condition {condition} is a {passes.type}; compare it with something")
    if isinstance(passes, pa.Scalar):
        return answers if passes.as_py() else answers.slice(0, 0)
    return answers.filter(passes)


def _schema(statement: EvaluatedStatement) -> pa.Schema:
    """Return the columns in the making: keys, the window's start, one column per query."""
    keys = [(key_column(key), kind) for key, kind in statement.key_types.items()]
    return pa.schema([*keys, (START, INSTANT), *((answer_column(id), statement.types[id]) for id in statement.queries)])


def answer_column(id: str) -> str:
    """Name the column of a query's answers beside the keys and the window's start."""
    return f"answer {id}"


def presence_column(id: str) -> str:
    """Name the column that says whether a row has an answer of a query."""
    return f"has {id}"


def _read_file(published: PublishedFiles, name: str) -> pa.Table:
    """Read the statement's rows of one file, one row per query, its answer in the column of the query."""
    statement, storage, _ = published
    labels = statement.labels
    columns = [QUERY, START, *(key_column(key) for key in statement.keys), REVISION]
    with pq.ParquetFile(storage.path(name), filesystem=storage.filesystem) as file:
        groups, names = row_groups_of(file, labels.values()), file.schema_arrow.names
        # a file lacks the columns of the types that none of its queries has
        columns += {value_column(each) for kind in statement.types.values() for each in value_types(kind, names)}
        table = file.read_row_groups(groups, [name for name in names if name in columns])
    return _read_rows(statement, table.filter(pc.is_in(table[QUERY].cast(pa.string()), pa.array([*labels.values()]))))


def _read_rows(statement: EvaluatedStatement, table: pa.Table, is_encoded: bool = False) -> pa.Table:
    """Return rows of a statement's queries as a file has them with the answer of each in the column of its query."""
    labels = statement.labels
    keys = {key: table[key_column(key)] for key in statement.keys}
    stays = {key for key, column in keys.items() if is_encoded and pa.types.is_dictionary(column.type)}
    kinds = statement.key_types
    out = {key_column(key): keys[key] if key in stays else keys[key].cast(kind) for key, kind in kinds.items()}
    out[START] = table[START].cast(INSTANT)
    if REVISION in table.column_names:
        out[REVISION] = table[REVISION]
    has_answer: dict[str, Any] = {}
    if len(statement.queries) > 1:  # else every row is of the one query
        label = table[QUERY].cast(pa.string())
        has_answer = {id: pc.equal(label, labels[id]) for id in statement.queries}
    for id in statement.queries:
        kind = statement.types[id]
        value = read_values(table, kind)
        out[answer_column(id)] = pc.if_else(has_answer[id], value, pa.scalar(None, kind)) if has_answer else value
    return pa.table(out | {presence_column(id): present for id, present in has_answer.items()})


def _may_stay_encoded(statement: EvaluatedStatement, parts: Sequence[pa.Table]) -> bool:
    """Say whether the dictionaries of a statement's keys can be passed on: nothing is computed with the keys, and none
    is long, as the dictionary of a file has the keys of all its queries."""
    has_condition = statement.statement.having or statement.statement.alert
    if len(statement.queries) > 1 or has_condition or any(REVISION in part.column_names for part in parts):
        return False
    columns = [part[key_column(key)] for part in parts for key in statement.keys]
    encoded = [column for column in columns if pa.types.is_dictionary(column.type)]
    return all(sum(len(c.dictionary) for c in column.chunks) * LEAST_REPEATS <= len(column) for column in encoded)


def _side_by_side(statement: EvaluatedStatement, rows: pa.Table, revisions: bool) -> pa.Table:
    """Make one row per key and window of one row per query; nulls are keys like any other."""
    keys = [*(key_column(key) for key in statement.keys), START, *([REVISION] if revisions else [])]
    # one row of a group holds the answer; Arrow takes the first of any type but decimals, and the place of arrays
    nested = [id for id in statement.queries if pa.types.is_nested(statement.types[id])]
    for id in nested:
        has_answer = np.asarray(rows[presence_column(id)]) if rows.num_rows else np.zeros(0, np.bool_)
        rows = rows.append_column(f"place {id}", pa.array(np.arange(rows.num_rows), mask=~has_answer))
    picked = {id: f"place {id}" if id in nested else answer_column(id) for id in statement.queries}
    by_max = {id for id in statement.queries if id in nested or pa.types.is_decimal(statement.types[id])}
    answers = [(picked[id], "max" if id in by_max else "first") for id in statement.queries]
    presences = [(presence_column(id), "any") for id in statement.queries if presence_column(id) in rows.column_names]
    flat = rows.drop_columns([answer_column(id) for id in nested])
    groups = flat.group_by(keys, use_threads=False).aggregate([*answers, *presences])
    for name, how in presences:
        groups = groups.filter(groups[f"{name}_{how}"])
    columns = {key: groups[key] for key in keys}
    for id, (name, how) in zip(statement.queries, answers, strict=True):
        answer = groups[f"{name}_{how}"]
        columns[answer_column(id)] = rows[answer_column(id)].take(answer) if id in nested else answer
    return pa.table(columns)


def _column(statement: EvaluatedStatement, rows: pa.Table, column: Column) -> pa.ChunkedArray:
    """Make one column of the user's SQL."""
    if column.kind == "answer":
        return rows[answer_column(column.source)]
    if column.kind == "key":
        return rows[key_column(column.source)]
    window = statement.window
    start = rows[START].cast(statement.instant)
    end = pc.add(start, pa.scalar(window.range, pa.int64() if window.rows else pa.duration("us")))
    if column.source == "window":
        parts = [part.combine_chunks() for part in (start, end)]
        return pa.chunked_array([pa.StructArray.from_arrays(parts, names=["start", "end"])])
    return start if column.source == "window.start" else end
