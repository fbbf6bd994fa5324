"""What an audit looks at: the statements of a stream, and a seeded sample of their emitted windows.

A few windows that should be there are among them. Plain Spark has to leave out the late events that windows missed,
too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from jobs.engine.events.columns import microseconds
from jobs.engine.warehouse.manifest import Manifest, has_all_marks
from jobs.engine.warehouse.result_files import BATCH, CORRECTED_AFTER, WATERMARK, late_column
from jobs.engine.warehouse.state_files import RetainedSlices, load_retained
from jobs.engine.warehouse.statements import EvaluatedStatement, evaluated_statement
from jobs.host.storage import Storage
from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.sql.expressions import in_backquotes
from optimizer.windows.window import BEGINNING

EXACT = {
    "count",
    "min",
    "max",
    "range",
    "any_value",
    "bool_and",
    "bool_or",
    "bit_and",
    "bit_or",
    "first",
    "last",
    "argmin",
    "argmax",
    "mode",
    "median",
    *(name for name in AGGREGATES if name.startswith("percentile")),
}
Ints = npt.NDArray[np.int64]
STATEMENTS = 40  # that a sample looks at; another seed, another choice
Starts = Callable[[EvaluatedStatement], Sequence[int]]


def is_exact(statement: EvaluatedStatement, query: str) -> bool:
    """Return whether a query's answers equal Spark's to the last bit; sums of floats depend on their order."""
    return statement.queries[query].aggregate in EXACT or not pa.types.is_floating(statement.types[query])


def audited_statements(catalog: Catalog, stream: str, storage: Storage, manifest: Manifest) -> list[EvaluatedStatement]:
    """Return the statements of a stream that are being evaluated and can be checked, by id."""
    retained = load_retained(storage, manifest.standing)
    ids = sorted(dict.fromkeys(catalog.of_stream(stream).statements.to_pylist()))
    answered = (_find_answered(catalog, id, manifest, retained) for id in ids)
    by_sql = bool(catalog.streams[stream].sql)
    return [
        statement
        for statement in answered
        if statement is not None and not (statement.window.rows and _is_lost(statement, manifest, by_sql))
    ]


def _find_answered(
    catalog: Catalog, id: str, manifest: Manifest, retained: RetainedSlices
) -> EvaluatedStatement | None:
    """Return a statement with the time after which all its queries are answered; None when some of them are not."""
    statement = evaluated_statement(catalog, id, manifest.types)
    if statement is None or not set(statement.labels.values()) <= retained.answered_after.keys():
        return None
    return replace(statement, after=max(retained.answered_after[label] for label in statement.labels.values()))


def _is_lost(statement: EvaluatedStatement, manifest: Manifest, by_sql: bool) -> bool:
    """Return whether the row numbers of a statement's events can no longer be told.

    They depend on the places of events in files, and on which of them were late.
    """
    return by_sql or (
        statement.after > BEGINNING and not manifest.backfill and not has_all_marks(manifest.marks, manifest.batch)
    )


def by_grouping(statements: Iterable[EvaluatedStatement]) -> dict[str, list[EvaluatedStatement]]:
    """Sort statements by the files that hold their answers."""
    groups: dict[str, list[EvaluatedStatement]] = {}
    for statement in statements:
        groups.setdefault(statement.grouping, []).append(statement)
    return groups


@dataclass(frozen=True)
class LateEvents:
    """The late events: when each happened, and the watermark it came after, or where that is earlier, the time up to
    which emitted windows were not corrected any more.

    A window misses exactly the events inside it whose watermark is at or after its end. Between two such watermarks
    that is the same for all windows, so these barriers part the windows into few groups.
    """

    times: Ints
    watermarks: Ints

    def barriers(self) -> list[int]:
        """Return the watermarks that some event came after, in order."""
        return [int(watermark) for watermark in np.unique(self.watermarks)]

    def barrier(self, start: int, end: int) -> int | None:
        """Return the first barrier at or after the window's end, if the window missed anything."""
        inside = (self.times >= start) & (self.times < end) & (self.watermarks >= end)
        return int(self.watermarks[self.watermarks >= end].min()) if inside.any() else None


def read_late_events(storage: Storage, manifest: Manifest, time: str) -> LateEvents:
    """Read the times of the late events of a manifest and the watermarks they came after."""
    times, watermarks = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for file in manifest.late:
        with pq.ParquetFile(storage.path(file.name), filesystem=storage.filesystem) as late:
            has_corrections = CORRECTED_AFTER in late.schema_arrow.names
            columns = [late_column(time), WATERMARK, *([CORRECTED_AFTER] if has_corrections else [])]
            table = late.read(columns)
        passed = pc.coalesce(table[CORRECTED_AFTER], table[WATERMARK]) if has_corrections else table[WATERMARK]
        times.append(microseconds(table[late_column(time)].combine_chunks()))
        watermarks.append(microseconds(passed.combine_chunks()))
    return LateEvents(np.concatenate(times), np.concatenate(watermarks))


def late_watermarks(storage: Storage, manifest: Manifest) -> dict[int, int]:
    """Return the watermark that each batch came after, for batches with events that were late for windows in rows."""
    if manifest.backfill:
        return {}
    if has_all_marks(manifest.marks, manifest.batch):
        marks = zip((None, *manifest.marks), manifest.marks, strict=False)
        return {mark.batch: before.watermark for before, mark in marks if before}
    watermarks: dict[int, int] = {}
    for file in manifest.late:
        table = pq.read_table(storage.path(file.name), filesystem=storage.filesystem, columns=[BATCH, WATERMARK])
        watermarks |= dict(
            zip(table[BATCH].to_pylist(), microseconds(table[WATERMARK].combine_chunks()).tolist(), strict=True)
        )
    return watermarks


def drop_missed_events(events: DataFrame, late: DataFrame, time: str, barrier: int) -> DataFrame:
    """Return the events without those that the windows before a barrier missed, each as often as it was missed."""
    names = [name for name in events.columns if late_column(name) in late.columns]
    columns = [F.col(in_backquotes(name)) for name in names]
    plain = events.select(*columns)
    has_corrections = CORRECTED_AFTER in late.columns
    passed = F.coalesce(F.col(CORRECTED_AFTER), F.col(WATERMARK)) if has_corrections else F.col(WATERMARK)
    missed = late.where(F.unix_micros(passed) >= barrier).select(
        *(F.col(in_backquotes(late_column(name))).cast(events.schema[name].dataType).alias(name) for name in names)
    )
    moments = F.broadcast(missed.select(F.col(in_backquotes(time))).distinct())
    touched = plain.join(moments, time, "left_semi").select(*columns)
    rest = plain.join(moments, time, "left_anti").select(*columns)
    return rest.unionAll(touched.exceptAll(missed))


def late_frame(spark: SparkSession, storage: Storage, manifest: Manifest) -> DataFrame | None:
    """Return the late table as Spark reads it; None when no event was late."""
    paths = [storage.uri(file.name) for file in manifest.late]
    return spark.read.option("mergeSchema", "true").parquet(*paths) if paths else None


@dataclass(frozen=True)
class Scope:
    """The windows that an audit looks at: those that end after `since`, all of them or a number of each statement."""

    since: int
    until: int
    windows: int = 5
    seed: int = 0
    everything: bool = False
    statements: int = STATEMENTS
    audited: Mapping[str, int] = field(default_factory=dict)  # the number of each statement's last audit
    brief: bool = False  # whether the sampled windows of a statement together are no longer than the time they are from
    folder: str = ""  # where the suites and their verdicts are kept


@dataclass(frozen=True)
class Part:
    """Windows of one statement that missed the same late events: those of these starts, or all in (low, high]."""

    statement: EvaluatedStatement
    low: int
    high: int
    barrier: int | None
    starts: tuple[int, ...] | None = None


def sample_statements(statements: Sequence[EvaluatedStatement], scope: Scope) -> list[EvaluatedStatement]:
    """Return the statements that an audit looks at: all of them, or those whose last audit is the longest ago."""
    if scope.everything or len(statements) <= scope.statements:
        return list(statements)
    order = random.Random(scope.seed).sample(list(statements), len(statements))
    sample = sorted(order, key=lambda statement: scope.audited.get(statement.statement.id, -1))[: scope.statements]
    return sorted(sample, key=lambda statement: statement.statement.id)


def choose_parts(
    statements: Sequence[EvaluatedStatement], emitted: Starts, late: LateEvents, scope: Scope, due: bool = True
) -> list[Part]:
    """Return what plain Spark has to answer; `emitted` tells where the windows of a statement start.

    With `due`, a few windows are among them that have to be there if they hold events, emitted or not."""
    if scope.everything:
        return [part for statement in statements for part in _all_parts(statement, late, scope)]
    return [
        part
        for statement in statements
        for part in _sampled_parts(statement, sample_starts(emitted(statement), statement, scope), late, scope, due)
    ]


def sample_starts(starts: Sequence[int], statement: EvaluatedStatement, scope: Scope) -> list[int]:
    """Return as many of the starts of a statement's windows as the scope allows, others with every seed."""
    pick, few = random.Random(f"{scope.seed} {statement.statement.id}"), scope.windows
    if scope.brief and starts and not statement.window.rows:
        few = min(few, max((max(starts) - min(starts)) // statement.window.range, 1))
    return sorted(pick.sample(sorted(starts), min(few, len(starts))))


def _all_parts(statement: EvaluatedStatement, late: LateEvents, scope: Scope) -> Iterator[Part]:
    """Part all windows of a statement at the barriers of the late events."""
    low = max(scope.since, statement.after)
    for barrier in late.barriers():
        if low < barrier and low < scope.until:
            yield Part(statement, low, min(barrier, scope.until), barrier)
            low = barrier
    if low < scope.until:
        yield Part(statement, low, scope.until, None)


def _sampled_parts(
    statement: EvaluatedStatement, emitted: Sequence[int], late: LateEvents, scope: Scope, due: bool
) -> Iterator[Part]:
    """Part the sampled windows of a statement by the late events that they missed."""
    by_barrier: dict[int | None, list[int]] = {}
    for start in sorted({*emitted, *(_due_starts(statement, emitted, scope) if due else ())}):
        barrier = late.barrier(start, start + statement.window.range)
        by_barrier.setdefault(barrier, []).append(start)
    for barrier, starts in by_barrier.items():
        low, high = starts[0] + statement.window.range - 1, starts[-1] + statement.window.range
        yield Part(statement, low, high, barrier, tuple(starts))


def _due_starts(statement: EvaluatedStatement, emitted: Sequence[int], scope: Scope) -> list[int]:
    """Return the starts of a few windows that have to be there if they hold events, emitted or not."""
    window, few = statement.window, 1 if scope.brief else 1 + scope.windows // 4
    last = (scope.until - window.range - window.offset) // window.slide
    first = (min(emitted) - window.offset) // window.slide if emitted else last - few
    low = max(scope.since, statement.after)
    if not emitted and low > BEGINNING:
        first = max(first, (low - window.range - window.offset) // window.slide + 1)
    pick = random.Random(f"{scope.seed} {statement.statement.id}")
    return [pick.randint(first, last) * window.slide + window.offset for _ in range(few)] if first <= last else []
