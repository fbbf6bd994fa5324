"""Which windows an audit looks at: a seeded sample of those emitted, and a few that should be there."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from expectations.sample.late_events import LateEvents
from jobs.engine.warehouse.statements import EvaluatedStatement
from optimizer.windows.window import BEGINNING

STATEMENTS = 40  # that a sample looks at; another seed, another choice


@dataclass(frozen=True)
class Scope:
    """The windows that end after `since`, up to the watermark; all of them, or so many of each statement."""

    since: int
    until: int
    windows: int = 5
    seed: int = 0
    everything: bool = False
    statements: int = STATEMENTS


@dataclass(frozen=True)
class Part:
    """Windows of one statement that missed the same late events: those of these starts, or all in (low, high]."""

    statement: EvaluatedStatement
    low: int
    high: int
    barrier: int | None
    starts: tuple[int, ...] | None = None


def sample_statements(statements: Sequence[EvaluatedStatement], scope: Scope) -> list[EvaluatedStatement]:
    """Return the statements that an audit looks at: all of them, or as many as the scope allows."""
    if scope.everything or len(statements) <= scope.statements:
        return list(statements)
    return random.Random(scope.seed).sample(list(statements), scope.statements)


def choose_parts(
    statements: Sequence[EvaluatedStatement], ours: DataFrame, late: LateEvents, scope: Scope
) -> list[Part]:
    """Return what plain Spark has to answer, one query of the raw events for every part."""
    if scope.everything:
        return [part for statement in statements for part in _all_parts(statement, late, scope)]
    starts = _sample_starts(ours, statements, scope)
    return [
        part
        for statement in statements
        for part in _sampled_parts(statement, starts.get(statement.first.id, []), late, scope)
    ]


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
    statement: EvaluatedStatement, emitted: Sequence[int], late: LateEvents, scope: Scope
) -> Iterator[Part]:
    """Part the sampled windows of a statement by the late events that they missed."""
    by_barrier: dict[int | None, list[int]] = {}
    for start in sorted({*emitted, *_due_starts(statement, emitted, scope)}):
        barrier = late.barrier(start, start + statement.window.range)
        by_barrier.setdefault(barrier, []).append(start)
    for barrier, starts in by_barrier.items():
        low, high = starts[0] + statement.window.range - 1, starts[-1] + statement.window.range
        yield Part(statement, low, high, barrier, tuple(starts))


def _due_starts(statement: EvaluatedStatement, emitted: Sequence[int], scope: Scope) -> list[int]:
    """Return the starts of a few windows that have to be there if they hold events, emitted or not."""
    window, few = statement.window, 1 + scope.windows // 4
    last = (scope.until - window.range - window.offset) // window.slide
    first = (min(emitted) - window.offset) // window.slide if emitted else last - few
    low = max(scope.since, statement.after)
    if not emitted and low > BEGINNING:
        first = max(first, (low - window.range - window.offset) // window.slide + 1)
    pick = random.Random(f"{scope.seed} {statement.statement.id}")
    return [pick.randint(first, last) * window.slide + window.offset for _ in range(few)] if first <= last else []


def _sample_starts(ours: DataFrame, statements: Sequence[EvaluatedStatement], scope: Scope) -> dict[str, list[int]]:
    """Sample the starts of emitted windows by query; the first query of a statement stands for the others."""
    firsts = [statement.first.id for statement in statements]
    windows = ours.where(F.col("query").isin(*firsts)).select("query", "start").distinct()
    order = Window.partitionBy("query").orderBy(F.xxhash64("start", F.lit(scope.seed)), "start")
    picked = windows.withColumn("rank", F.row_number().over(order)).where(F.col("rank") <= scope.windows)
    starts: dict[str, list[int]] = {}
    for row in picked.collect():
        starts.setdefault(row["query"], []).append(row["start"])
    return starts
