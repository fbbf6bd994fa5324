"""Which windows an audit looks at: a seeded sample of those emitted, and a few that should be there."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from expectations.sample.late_events import LateEvents
from jobs.engine.warehouse.statements import EvaluatedStatement
from optimizer.windows.window import BEGINNING

STATEMENTS = 40  # that a sample looks at; another seed, another choice
Starts = Callable[[EvaluatedStatement], Sequence[int]]


@dataclass(frozen=True)
class Scope:
    """The windows that end after `since`, up to the watermark; all of them, or so many of each statement."""

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
    drawn = random.Random(scope.seed).sample(list(statements), len(statements))
    sample = sorted(drawn, key=lambda statement: scope.audited.get(statement.statement.id, -1))[: scope.statements]
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
