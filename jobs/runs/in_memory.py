"""Queries over a table in memory: planned by its own events, answered in this process, nothing written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from jobs.engine.batch.in_memory import KeyedAnswer, answer_table
from jobs.engine.events.arrow import to_array
from jobs.engine.events.columns import events_from
from jobs.engine.events.expressions import NotExact, parse_cached
from jobs.engine.events.file_types import table_types
from jobs.engine.events.parquet import with_inputs
from jobs.engine.program.compile import compile_program
from jobs.engine.program.program import Program, key_column
from jobs.engine.program.spark_types import INSTANT, plain_type
from jobs.engine.warehouse.read_answers import join_queries, show_columns
from jobs.engine.warehouse.result_files import START
from jobs.engine.warehouse.statements import EvaluatedStatement, evaluated_statement
from jobs.kernels.arrays import Ints
from jobs.measure.machine_prices import load_prices
from jobs.measure.recent_events import MOST, RecentEvents, measuring_program
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.spark_types.parquet import names_alike
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan
from optimizer.plan.measures import demands_of
from optimizer.planning.defaults import ASSUMED_RATE, STRATEGY, TECHNIQUE
from optimizer.planning.stream import plan_stream

STRETCHES = 8  # parts of a table that are looked at before it is planned
VIEWS = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
ONLY_SPARK = "only Spark evaluates that; give the events as a Spark DataFrame"


def columns_read(catalog: Catalog) -> list[str]:
    """Return the columns of its one stream that the queries of a catalog read, as they write them."""
    (stream,) = catalog.streams
    unshared = catalog.unshared(stream)
    if unshared:
        raise HeddleError(f"{', '.join(unshared)}: {ONLY_SPARK}")
    names = {catalog.streams[stream].time}
    for shape in catalog.queries.shapes:
        names.update(shape.group_by)
        texts = {text for measure in demands_of(shape) for text in (*measure.arguments, measure.where)} - {"", "*"}
        names.update(column.parts[0].name for text in texts for column in parse_cached(text).find_all(exp.Column))
    return sorted(names)


def plan_table(catalog: Catalog, events: pa.Table) -> Plan:
    """Plan the queries of a catalog for one table of events, by what some of them show of its keys and predicates."""
    (stream,) = catalog.streams
    alike = names_alike(events.column_names)
    if alike:
        raise HeddleError(f"the columns {' and '.join(alike)} are one to Spark; rename one of them")
    recent = _look_at(catalog, stream, events)
    rate = _rate(events, catalog.streams[stream].time)
    return plan_stream(catalog, stream, rate or ASSUMED_RATE, STRATEGY, TECHNIQUE, recent=recent, prices=load_prices())


def run_table(catalog: Catalog, events: pa.Table) -> dict[str, pa.Table]:
    """Answer every statement of a catalog over one table of events, all windows closed at its end.

    Rows are in the order of window and keys, with the columns and types of the statement's SQL."""
    plan = plan_table(catalog, events)
    program = _compile(catalog, plan, events.schema)
    keyed = {answer.query.label: KeyedAnswer(keys, answer) for keys, answer in answer_table(program, events)}
    types = {name: str(kind) for name, kind in program.types.items()}
    ordered: dict[int, Ints] = {}
    tables = {}
    for id in catalog.statements:
        statement = evaluated_statement(catalog, id, types)
        assert statement is not None  # the program has the types of all its statements
        tables[id] = show_columns(statement, _rows(statement, keyed, ordered))
    return tables


def _compile(catalog: Catalog, plan: Plan, schema: pa.Schema) -> Program:
    try:
        program = compile_program(catalog, plan, table_types(catalog, plan, schema))
    except NotExact as reason:
        raise HeddleError(f"{reason}: {ONLY_SPARK}") from None
    if program.unshared:
        raise HeddleError(f"{', '.join(query.id for query in program.unshared)}: {ONLY_SPARK}")
    return program


def _look_at(catalog: Catalog, stream: str, events: pa.Table) -> RecentEvents | None:
    """Return some stretches of the events with their keys and predicates; None where that fails, as the run will."""
    program = measuring_program(catalog, stream)
    length = min(MOST // STRETCHES, events.num_rows)
    starts = np.unique(np.linspace(0, events.num_rows - length, STRETCHES).astype(np.int64) // max(1, length)) * length
    try:
        parts = [with_inputs(events.slice(start, length), program) for start in starts.tolist()]
        looked_at = events_from(pa.concat_tables(parts), program)
    except (HeddleError, NotExact, KeyError, pa.ArrowException):
        return None
    if not len(looked_at.times):
        return None
    whole = not looked_at.without_time  # else the places of the cuts are others
    cuts = tuple(np.cumsum([part.num_rows for part in parts]).tolist()) if whole else ()
    return RecentEvents(looked_at, {test.sql: test.name for test in program.predicates}, cuts=cuts)


def _rate(events: pa.Table, time: str) -> float | None:
    """Return events per second; None where the time is no time, which the run complains about."""
    if time not in events.column_names or not pa.types.is_timestamp(events.schema.field(time).type):
        return None
    ends = pc.min_max(events[time]).as_py()
    if ends["min"] is None or ends["min"] == ends["max"]:
        return None
    return float(events.num_rows / (ends["max"] - ends["min"]).total_seconds())


def _rows(statement: EvaluatedStatement, keyed: Mapping[str, KeyedAnswer], ordered: dict[int, Ints]) -> pa.Table:
    """Return the answers of a statement in the order of window and keys, one column per query."""
    answered = [(id, keyed[label]) for id, label in statement.labels.items() if label in keyed]
    if len(answered) == len(statement.queries) and _have_equal_rows([of_query for _, of_query in answered]):
        keys, first = answered[0][1]
        if id(keys) not in ordered:
            ordered[id(keys)] = _rank_keys(keys)
        order = pa.array(np.lexsort((ordered[id(keys)][first.group], first.start)))
        group = pa.array(first.group).take(order)
        columns = _key_columns(statement, keys, group)
        columns[START] = pa.array(first.start).take(order).view(INSTANT)
        columns |= {id: of_query.answer.value.take(order) for id, of_query in answered}
        return pa.table(columns)
    rows = join_queries(statement, [_apart(statement, id, of_query) for id, of_query in answered])
    return rows.sort_by([(START, "ascending"), *((key_column(key), "ascending") for key in statement.keys)])


def _have_equal_rows(answers: Sequence[KeyedAnswer]) -> bool:
    """Whether answers are of one tree and have the same windows, row by row."""
    keys, first = answers[0]
    return all(
        other is keys and np.array_equal(answer.start, first.start) and np.array_equal(answer.group, first.group)
        for other, answer in answers[1:]
    )


def _rank_keys(keys: pa.Table) -> Ints:
    """Return the place of every key among all of them in ascending order, nulls last."""
    ranks = np.empty(keys.num_rows, np.int64)
    order = pc.sort_indices(keys, [(name, "ascending") for name in keys.column_names])
    ranks[np.asarray(order)] = np.arange(keys.num_rows)
    return ranks


def _key_columns(statement: EvaluatedStatement, keys: pa.Table, rows: pa.Array) -> dict[str, pa.Array]:
    return {key_column(key): to_array(keys[key]).cast(statement.types[key]).take(rows) for key in statement.keys}


def _apart(statement: EvaluatedStatement, query: str, keyed: KeyedAnswer) -> pa.Table:
    """Return the rows of one query, null in the columns of the others."""
    keys, answer = keyed
    rows = len(answer.group)
    columns = _key_columns(statement, keys, pa.array(answer.group))
    columns[START] = pa.array(answer.start).view(INSTANT)
    for id, kind in ((id, statement.types[id]) for id in statement.queries):
        columns[id] = answer.value if id == query else pa.nulls(rows, kind)
    columns |= {f"has {id}": pa.repeat(id == query, rows) for id in statement.queries}
    return pa.table(columns)


def as_spark_reads(events: pa.Table) -> pa.Table:
    """Return a table in the types that Spark has: times in microseconds, texts of one kind, dictionaries of texts only.

    >>> as_spark_reads(pa.table({"ts": pa.array([1500], pa.timestamp("ns"))}))["ts"].type
    TimestampType(timestamp[us])
    """
    for number, field in enumerate(events.schema):
        wanted = VIEWS.get(field.type, plain_type(field.type))
        zoned = pa.types.is_timestamp(wanted) and wanted.tz and field.type.unit == "us"
        if field.type != wanted and not zoned and not _is_text_dictionary(field.type):
            events = events.set_column(number, field.name, events[number].cast(wanted, safe=False))
    return events


def _is_text_dictionary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type))
