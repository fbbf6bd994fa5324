"""The naive recomputation: the user's own aggregates and predicates, on plain Spark, over the raw events.

All windows of a statement are asked for by its own SQL. A sample of windows is asked for by name: events are joined
with the sampled windows, so that Spark does not copy an event into windows that nobody looks at, and the statements
of a grouping are answered in one scan, which is planned once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import pandas as pd
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from expectations.sample import Part, drop_missed_events, is_exact, late_frame
from expectations.sides.row import LAST, NAIVE_COLUMNS, Answers, make_rows
from jobs.engine.sources.contract import File, current_files
from jobs.engine.warehouse.consumed_files import consumed_files, is_rewritten
from jobs.engine.warehouse.manifest import Manifest
from jobs.engine.warehouse.result_files import late_column
from jobs.engine.warehouse.statements import EvaluatedStatement
from jobs.host.say import Say
from jobs.host.storage import Storage
from jobs.spark.stream_frames import stream_frame
from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.catalog import Catalog, columns_of_statement, oracle_aggregate, oracle_sql, window_name
from optimizer.catalog.model.query import Query, Stream
from optimizer.catalog.sql.expressions import free_name, in_backquotes, quote
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING

SPANS = 32  # stretches of time that are read one by one; more of them are read as one
AT_ONCE = 24  # aggregates of one scan: Java compiles no method without end
ORDERED = {  # by what their events are ordered; those of a mode are counted, those of a percentile ranked
    "first": "{ts}",
    "last": "{ts}",
    "any_value": "{ts}",
    "argmin": "{y}",
    "argmax": "{y}",
    "mode": "0",
    "percentile_approx": "0",
}
# over pairs: their number, the deviations of both numbers, and how large these are
PAIRS = "nullif(regr_count({x}, {y}), 0)"
OF_X, OF_Y = f"sqrt(regr_syy({{x}}, {{y}}) / {PAIRS})", f"sqrt(regr_sxx({{x}}, {{y}}) / {PAIRS})"
SIZE_X = f"sqrt(power(regr_avgy({{x}}, {{y}}), 2) + regr_syy({{x}}, {{y}}) / {PAIRS})"
SIZE_Y = f"sqrt(power(regr_avgx({{x}}, {{y}}), 2) + regr_sxx({{x}}, {{y}}) / {PAIRS})"
CROSS = f"({OF_X} * {SIZE_Y} + {OF_Y} * {SIZE_X})"
APART = f"({SIZE_X} / nullif({OF_X}, 0) + {SIZE_Y} / nullif({OF_Y}, 0))"
ALONE = "sqrt(avg({x} * {x})) / nullif(stddev_pop({x}), 0)"
SCALES = {  # a sum near zero of large numbers, a small variance around a large mean: their last digits are rounding
    **dict.fromkeys(("sum", "try_sum"), "sum(abs({x}))"),
    **dict.fromkeys(("avg", "try_avg"), "avg(abs({x}))"),
    **dict.fromkeys(("var_pop", "var_samp"), "stddev_pop({x}) * sqrt(avg({x} * {x}))"),
    **dict.fromkeys(("stddev_pop", "stddev_samp"), "sqrt(avg({x} * {x}))"),
    "skewness": f"{ALONE} * sqrt(count({{x}}))",
    "kurtosis": f"{ALONE} * count({{x}})",
    **dict.fromkeys(("covar_pop", "covar_samp"), CROSS),
    **dict.fromkeys(("corr", "regr_r2"), APART),
    "regr_sxy": f"{PAIRS} * {CROSS}",
    "regr_syy": f"{PAIRS} * {OF_X} * {SIZE_X}",
    "regr_sxx": f"{PAIRS} * {OF_Y} * {SIZE_Y}",
    "regr_avgy": SIZE_X,
    "regr_avgx": SIZE_Y,
    "regr_slope": f"{CROSS} / nullif({OF_Y} * {OF_Y}, 0)",
    "regr_intercept": f"{SIZE_X} + {SIZE_Y} * {CROSS} / nullif({OF_Y} * {OF_Y}, 0)",
}


@dataclass(frozen=True)
class Naive:
    """Plain Spark over the events that were evaluated; `statements_run` is the SQL that it has run."""

    spark: SparkSession
    stream: Stream
    events: DataFrame
    late: DataFrame | None
    say: Say
    statements_run: list[str] = field(default_factory=list)

    def rows(self, parts: Sequence[Part]) -> pd.DataFrame:
        """Return Spark's answers in the windows of all parts."""
        frames, asked_so_far, total = [], 0, len({part.statement.statement.id for part in parts})
        for scan in scans(parts):
            names = {part.statement.statement.id for part in scan}
            asked_so_far = min(asked_so_far + len(names), total)
            self.say(f"asking Spark {asked_so_far} of {total} statements")
            frames.append(self._ask_all_windows(scan[0]) if scan[0].starts is None else self._ask_sample(scan))
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=NAIVE_COLUMNS, dtype=object)

    def _ask_all_windows(self, part: Part) -> pd.DataFrame:
        """Return the answers in all windows of a part, by the user's own SQL."""
        answered = self._ask([part], with_extras(part.statement, self.stream.time))
        rows = long_rows(answered, part.statement).drop(columns=LAST)
        return rows[(rows["end"] > part.low) & (rows["end"] <= part.high)]

    def _ask_sample(self, scan: Sequence[Part]) -> pd.DataFrame:
        """Return the answers in the sampled windows of statements with the same keys."""
        answered = self._ask(scan, sample_sql(scan, self.stream))
        frames, place = [], 2 + len(scan[0].statement.keys)
        for number, part in enumerate(scan):
            rows = answered.filter(pa.compute.equal(answered[0], number))
            frames.append(_sampled_rows(rows, part.statement, place))
            place += 3 * len(part.statement.queries)
        return pd.concat(frames, ignore_index=True)

    def _ask(self, scan: Sequence[Part], sql: str) -> pa.Table:
        time, barrier = self.stream.time, scan[0].barrier
        events = self.events.where(_inside(scan, self.events, time))
        if barrier is not None and self.late is not None:
            late = self.late.where(_inside(scan, self.late, late_column(time)))
            events = drop_missed_events(events, late, time, barrier)
        read = columns_of_statement([query for part in scan for query in part.statement.queries.values()], time)
        view = events.select(*(F.col(in_backquotes(name)) for name in sorted(read)))  # no other column is in the way
        view.createOrReplaceTempView(quote(self.stream.name))
        self.statements_run.append(sql)
        try:
            return numbered_columns(self.spark.sql(sql)).toArrow()
        finally:
            self.spark.catalog.dropTempView(self.stream.name)


def scans(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """Yield the parts that one query answers: samples with the same keys, without the same late events."""
    groups: dict[tuple[str, int | None], list[Part]] = {}
    for part in parts:
        if part.starts is None:
            yield [part]
        else:
            groups.setdefault((part.statement.grouping, part.barrier), []).append(part)
    for group in groups.values():
        scan: list[Part] = []
        for part in group:
            if scan and sum(len(member.statement.queries) for member in [*scan, part]) > AT_ONCE:
                yield scan
                scan = []
            scan.append(part)
        yield scan


def naive_recomputation(
    spark: SparkSession, catalog: Catalog, stream: str, storage: Storage, manifest: Manifest, say: Say
) -> Naive:
    """Return plain Spark over the files that the batches up to a manifest have consumed."""
    events = stream_frame(
        spark, catalog, stream, sorted(file for _, file in evaluated_files(storage, manifest).values())
    )
    return Naive(spark, catalog.streams[stream], events, late_frame(spark, storage, manifest), say)


def evaluated_files(storage: Storage, manifest: Manifest) -> dict[str, tuple[int, File]]:
    """Return the files that the batches up to a manifest have consumed, with their batches; refuse if some are gone."""
    files = consumed_files(storage, manifest)
    if not files:
        raise HeddleError(f"{storage.root}: nothing has been evaluated yet; run heddle evaluate first")
    local = [path for path in files if "://" not in path]
    now = {file.path: file for file in current_files(local)}
    missing = [path for path in local if path not in now]
    if missing:
        raise HeddleError(
            f"{missing[0]}: was evaluated and is gone, one of {len(missing)}; an audit needs the raw events"
        )
    changed = [path for path in local if is_rewritten(files[path][1], now[path])]
    if changed:
        raise HeddleError(
            f"{changed[0]}: was evaluated and written again since, one of {len(changed)}; an audit needs the raw events"
        )
    return files


def _inside(scan: Sequence[Part], events: DataFrame, time: str) -> Column:
    """Return a condition for the events of some parts' windows that the reader of the files can push down."""
    kind, moment = events.schema[time].dataType, F.col(in_backquotes(time))

    def at(ticks: int) -> Column:
        return F.timestamp_micros(F.lit(ticks)).cast(kind)

    spans = [
        (moment < at(high)) & (moment >= at(low) if low > BEGINNING else F.lit(True))
        for low, high in join_spans([span for part in scan for span in _spans(part)])
    ]
    return reduce(Column.__or__, spans)


def _spans(part: Part) -> list[tuple[int, int]]:
    size = part.statement.window.range
    if part.starts is None:
        return [(max(part.low - size, BEGINNING), part.high)]
    return [(start, start + size) for start in part.starts]


def join_spans(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans that do not touch, and not too many of them.

    >>> join_spans([(5, 9), (0, 3), (2, 4)])
    [(0, 4), (5, 9)]
    """
    joined: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined if len(joined) <= SPANS else [(joined[0][0], joined[-1][1])]


def sample_sql(scan: Sequence[Part], stream: Stream) -> str:
    """Return the SQL that answers sampled windows of statements with the same keys in one scan of the events."""
    read = columns_of_statement([query for part in scan for query in part.statement.queries.values()], stream.time)
    used = {name.lower() for name in read}
    names = ("heddle time", "heddle statement", "heddle from", "heddle to")
    moment, statement, low, high = (in_backquotes(free_name(name, used)) for name in names)
    keys = ", ".join(map(quote, scan[0].statement.keys))
    columns = [
        column
        for number, part in enumerate(scan)
        for query in part.statement.queries.values()
        for column in _columns(part.statement, _guard_arguments(query, f"{statement} = {number}"), stream.time)
    ]
    windows = [
        f"({number}, {start}L, {start + part.statement.window.range}L)"
        for number, part in enumerate(scan)
        for start in part.starts or ()
    ]
    filters = [f"WHEN {number} THEN {part.statement.first.where or 'true'}" for number, part in enumerate(scan)]
    places = ", ".join(filter(None, (statement, low, keys)))
    return (
        f"SELECT {places}, {', '.join(columns)} "
        f"FROM (SELECT *, unix_micros(cast({quote(stream.time)} AS TIMESTAMP)) AS {moment} FROM {quote(stream.name)}) "
        f"JOIN (VALUES {', '.join(windows)}) AS sampled ({statement}, {low}, {high}) "
        f"ON {moment} >= {low} AND {moment} < {high} "
        f"WHERE CASE {statement} {' '.join(filters)} END GROUP BY {places}"
    )


def _guard_arguments(query: Query, condition: str) -> Query:
    """Return a query whose arguments are evaluated for events of its own statement only: others might be refused."""
    variable = 1 if AGGREGATES[query.aggregate].takes_constants else len(query.arguments)
    arguments = [
        f"CASE WHEN {condition} THEN {argument} END" if place < variable and argument != "*" else argument
        for place, argument in enumerate(query.arguments)
    ]
    return replace(query, arguments=tuple(arguments))


def _columns(statement: EvaluatedStatement, query: Query, time: str) -> tuple[str, str, str]:
    return _candidates(query, time), _scale(statement, query), oracle_aggregate(query, time)


def _sampled_rows(answered: pa.Table, statement: EvaluatedStatement, place: int) -> pd.DataFrame:
    """Return one row per query from one row per window, the query's three columns from a place on."""
    answers = {
        id: _answers(statement.queries[id], *(answered[place + 3 * number + part] for part in (2, 0, 1)))
        for number, id in enumerate(statement.queries)
    }
    keys = [answered[2 + number] for number in range(len(statement.keys))]
    return make_rows(statement, answered[1].to_pylist(), keys, answers)


def _answers(query: Query, values: pa.ChunkedArray, candidates: pa.ChunkedArray, scale: pa.ChunkedArray) -> Answers:
    return Answers(values, candidates if query.aggregate in ORDERED else None, scale)


def with_extras(statement: EvaluatedStatement, time: str, ties: str = "") -> str:
    """Return the user's statement with more columns in front: window start, keys, and what leaves answers open."""
    window = window_name(statement.queries.values(), time)
    last = f"unix_micros(cast(max({quote(time)}) AS TIMESTAMP))" if statement.window.rows else "0L"
    start = f"{window}.start" if statement.window.rows else f"unix_micros(cast({window}.start AS TIMESTAMP))"
    added = [start, last, *map(quote, statement.first.group_by)]
    added += [
        extra for query in statement.queries.values() for extra in (_candidates(query, time), _scale(statement, query))
    ]
    sql = oracle_sql(statement.queries, statement.statement.columns, time, ties)
    return f"SELECT {', '.join(added)}, {sql.removeprefix('SELECT ')}"


def _candidates(query: Query, time: str) -> str:
    """Return the SQL of every value with what it is ordered by."""
    if query.aggregate not in ORDERED:
        return "0"
    order = ORDERED[query.aggregate].format(ts=quote(time), y=query.arguments[-1])
    return f"collect_list(named_struct('by', {order}, 'value', {query.arguments[0]}))"


def _scale(statement: EvaluatedStatement, query: Query) -> str:
    if is_exact(statement, query.id) or query.aggregate not in SCALES:
        return "0D"
    x, y = (f"cast({query.arguments[place]} AS DOUBLE)" for place in (0, -1))
    return SCALES[query.aggregate].format(x=x, y=y)


def numbered_columns(answered: DataFrame) -> DataFrame:
    """Return a frame with columns named by their places, since Spark's own names may be equal."""
    return answered.toDF(*(f"c{number}" for number in range(len(answered.columns))))


def long_rows(answered: pa.Table, statement: EvaluatedStatement) -> pd.DataFrame:
    """Return one row per query from one row per window; the columns are in the order of with_extras."""
    place = 2 + len(statement.keys)
    own = place + 2 * len(statement.queries)
    columns = enumerate(statement.statement.columns)
    values = {column.source: answered[own + n] for n, column in columns if column.kind == "answer"}
    answers = {
        id: _answers(statement.queries[id], values[id], answered[place + 2 * n], answered[place + 2 * n + 1])
        for n, id in enumerate(statement.queries)
    }
    keys = [answered[2 + number] for number in range(len(statement.keys))]
    rows = make_rows(statement, answered[0].to_pylist(), keys, answers)
    rows[LAST] = answered[1].to_pylist() * len(statement.queries)
    return rows
