"""Which windows missed a late event."""

from __future__ import annotations

import numpy as np
import pytest

from expectations.sample import LateEvents, Scope, choose_parts
from jobs.engine.warehouse.statements import EvaluatedStatement
from optimizer.catalog.model.query import Query, Statement
from optimizer.windows.window import Window

LATE = LateEvents(np.array([3, 7, 12]), np.array([10, 10, 20]))  # two events after watermark 10, one after 20


@pytest.mark.parametrize(
    ("start", "end", "barrier"),
    [
        (0, 5, 10),  # holds 3, out when it came
        (5, 10, 10),  # ends at the watermark: out
        (6, 11, None),  # holds 7, but was not out at 10
        (11, 15, 20),
        (13, 18, None),  # out in time, and nothing inside was late
        (10, 21, None),
    ],
)
def test_a_window_missed_what_came_after_it_was_out(start: int, end: int, barrier: int | None) -> None:
    assert LATE.barrier(start, end) == barrier


def statement() -> EvaluatedStatement:
    query = Query("q", "s", "sum", ("x",), Window(4, 2), "", (), "q")
    return EvaluatedStatement(Statement("q", "SELECT 1", ()), {"q": query}, {}, {})


def test_everything_is_recomputed_once_between_the_barriers() -> None:
    scope = Scope(since=4, until=30, everything=True)
    parts = choose_parts([statement()], lambda _: [], LATE, scope)
    assert [(part.low, part.high, part.barrier) for part in parts] == [(4, 10, 10), (10, 20, 20), (20, 30, None)]
