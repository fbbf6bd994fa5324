"""Which windows an audit looks at: a seeded sample of those emitted, and a few that ought to have been."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from expectations.sample.late_events import Missed
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

    asked: EvaluatedStatement
    low: int
    high: int
    barrier: int | None
    starts: tuple[int, ...] | None = None


def statements(asked: Sequence[EvaluatedStatement], scope: Scope) -> list[EvaluatedStatement]:
    """The statements that are looked at."""
    if scope.everything or len(asked) <= scope.statements:
        return list(asked)
    return random.Random(scope.seed).sample(list(asked), scope.statements)


def parts(asked: Sequence[EvaluatedStatement], ours: DataFrame, missed: Missed, scope: Scope) -> list[Part]:
    """What plain Spark is asked, one question each."""
    if scope.everything:
        return [part for each in asked for part in _all(each, missed, scope)]
    emitted = _emitted(ours, asked, scope)
    return [part for each in asked for part in _some(each, emitted.get(each.first.id, []), missed, scope)]


def _all(asked: EvaluatedStatement, missed: Missed, scope: Scope) -> Iterator[Part]:
    low = max(scope.since, asked.after)
    for barrier in missed.barriers():
        if low < barrier and low < scope.until:
            yield Part(asked, low, min(barrier, scope.until), barrier)
            low = barrier
    if low < scope.until:
        yield Part(asked, low, scope.until, None)


def _some(asked: EvaluatedStatement, emitted: Sequence[int], missed: Missed, scope: Scope) -> Iterator[Part]:
    by_barrier: dict[int | None, list[int]] = {}
    for start in sorted({*emitted, *_due(asked, emitted, scope)}):
        barrier = missed.barrier(start, start + asked.window.range)
        by_barrier.setdefault(barrier, []).append(start)
    for barrier, starts in by_barrier.items():
        low, high = starts[0] + asked.window.range - 1, starts[-1] + asked.window.range
        yield Part(asked, low, high, barrier, tuple(starts))


def _due(asked: EvaluatedStatement, emitted: Sequence[int], scope: Scope) -> list[int]:
    """A few windows that ought to be there if they hold events, whether they were emitted or not."""
    window, few = asked.window, 1 + scope.windows // 4
    last = (scope.until - window.range - window.offset) // window.slide
    first = (min(emitted) - window.offset) // window.slide if emitted else last - few
    low = max(scope.since, asked.after)
    if not emitted and low > BEGINNING:
        first = max(first, (low - window.range - window.offset) // window.slide + 1)
    pick = random.Random(f"{scope.seed} {asked.statement.id}")
    return [pick.randint(first, last) * window.slide + window.offset for _ in range(few)] if first <= last else []


def _emitted(ours: DataFrame, asked: Sequence[EvaluatedStatement], scope: Scope) -> dict[str, list[int]]:
    """A sample of the emitted windows by query; the first query of a statement stands for the others."""
    firsts = [each.first.id for each in asked]
    known = ours.where(F.col("query").isin(*firsts)).select("query", "start").distinct()
    order = Window.partitionBy("query").orderBy(F.xxhash64("start", F.lit(scope.seed)), "start")
    picked = known.withColumn("rank", F.row_number().over(order)).where(F.col("rank") <= scope.windows)
    found: dict[str, list[int]] = {}
    for row in picked.collect():
        found.setdefault(row["query"], []).append(row["start"])
    return found
