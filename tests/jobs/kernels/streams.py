"""Streams of slices for the kernels' tests, with what the oracle says of them."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from jobs.kernels.algebra.finish import Part, finish
from jobs.kernels.algebra.operators import OPS, VALUE_COLUMNS, combine, lift, lower
from jobs.kernels.arrays import Ints, Rows
from jobs.kernels.machine.contract import Answers
from jobs.kernels.techniques.stream import advance, make
from optimizer.windows.window import Window
from tests.oracle import naive
from tests.oracle.naive_aggregates import BY_ORDER, aggregate_of, choices

WINDOWS = (Window(3, 1), Window(5, 1), Window(5, 2, 1), Window(16, 4), Window(37, 10, 3), Window(8, 8))
MOMENTS = {"moments": "var_pop", "central_moments": "kurtosis", "co_moments": "covar_pop"}  # what tells them
NAN, INF = float("nan"), float("inf")
Event = dict[str, Any]


def _random(seed: int, count: int, span: int, nulls: float) -> list[tuple[int, int | None]]:
    rng = np.random.default_rng(seed)
    times = np.sort(rng.choice(np.arange(-span // 4, span), count, replace=False))
    return [(int(t), None if rng.random() < nulls else int(rng.integers(-9, 10))) for t in times]


# (time, value): one slice has one event, except where times repeat; integers, so that equality is exact
STREAMS: dict[str, list[tuple[int, Any]]] = {
    "paper": list(enumerate([6, 5, 0, 1, 3, 4, 2, 7])),
    "dense": _random(1, 120, 100, 0.0),
    "gaps and nulls": _random(2, 60, 400, 0.3),
    "long silence": [(0, 5), (1, None), (2, 7), (5000, 1), (5001, -1), (90000, None), (90040, 3)],
    "many events a slice": sorted(_random(3, 60, 70, 0.2) + _random(4, 60, 70, 0.2), key=lambda event: event[0]),
    "falling": [(t, 60 - t) for t in range(60)],
    "ties": [(t, t % 2) for t in range(40)],
    "all null": [(t, None) for t in range(12)],
}
WILD: dict[str, list[tuple[int, Any]]] = {
    "nan and infinities": list(enumerate([1.0, NAN, 2.0, INF, 3.0, -INF, 4.0, None, INF, 5.0, *[1.0] * 30, NAN, -2.0])),
    "only nan": list(enumerate([NAN, None, NAN, NAN])),
    "signed zeros": list(enumerate([-0.0, 0.0, -0.0, None, 0.0, -0.0])),
}


@cache
def events(stream: str, component: str, kind: str) -> tuple[Event, ...]:
    """The events of a stream, as the component's expression takes them."""
    told = [(ts, None if value is None else _cast(component, kind, value)) for ts, value in {**STREAMS, **WILD}[stream]]
    return tuple({"ts": ts, "x": value, "y": value} for ts, value in told)


def _cast(component: str, kind: str, value: Any) -> Any:
    if component in ("bool_and", "bool_or"):
        return value > 0
    if component == "product" and abs(value) < INF:
        return (-1.0, 1.0, 2.0)[int(value) % 3]
    return float(value) if kind == "float64" else int(value)


def partials(stream: str, component: str, kind: str) -> tuple[Ints, Rows]:
    """The slices of a stream: their starts and their rows; payloads are numbers of events."""
    op, told = OPS[component, kind], events(stream, component, kind)
    by_time = component in ("first", "last")
    values = [event["ts"] if by_time else event["x"] for event in told]
    column = np.array([0 if value is None else value for value in values], kind)
    valid = np.array([value is not None for value in values])
    if component == "count":
        column = valid.astype(np.int64)
    single = lift(op, column * column if component == "sum_squares" else column, valid)
    starts, slices = np.unique([event["ts"] for event in told], return_inverse=True)
    rows = np.zeros((len(starts), single.shape[1]), single.dtype)
    for i, slice_ in enumerate(slices):
        combine(op, rows, slice_, single, i, rows, slice_)
    return starts, rows


def values(stream: str, component: str, kind: str, answers: Answers) -> list[Any]:
    """What the user would read."""
    numbers, valid, overflow = lower(OPS[component, kind], answers.rows)
    assert not overflow.any()
    if component in MOMENTS:
        parts = tuple(answers.rows[:, number] for number in VALUE_COLUMNS[OPS[component, kind]])
        numbers, known = finish(MOMENTS[component], [Part(parts, valid)])
        valid = valid & known
    read = [number.item() if ok else None for number, ok in zip(numbers, valid, strict=True)]
    if component not in BY_ORDER:
        return read
    told = events(stream, component, kind)
    return [None if value is None else told[int(row[1])]["x"] for value, row in zip(read, answers.rows, strict=True)]


@cache
def expected(stream: str, component: str, kind: str) -> list[dict[int, list[Any]]]:
    """For every window of WINDOWS: {start: the values it may have}, more than one only where Spark leaves ties open."""
    told = events(stream, component, kind)
    held = [naive.contents(told, window) for window in WINDOWS]
    return [{start: _choices(component, rows) for (_, start), rows in windows.items()} for windows in held]


def _choices(component: str, rows: list[Any]) -> list[Any]:
    if component in BY_ORDER:
        return choices(rows, component, "x", "ts" if component in ("first", "last") else "y")
    return [aggregate_of(rows, MOMENTS.get(component, component))]


def answered(
    technique: str, stream: str, component: str, kind: str, cuts: tuple[int, ...] = ()
) -> tuple[list[dict[int, Any]], list[Answers]]:
    """What the kernel says, in the same form, and as it came; the stream is cut into batches before these slices."""
    starts, rows = partials(stream, component, kind)
    state = make(technique, WINDOWS, component, kind)
    read: list[dict[int, Any]] = [{} for _ in WINDOWS]
    raw = []
    edges = [0, *cuts, len(starts)]
    for low, high in pairwise(edges):
        until = int(starts[-1]) + 100 if high == len(starts) else None
        state, answers = advance(state, starts[low:high], rows[low:high], until)
        raw.append(answers)
        for query, start, value in zip(
            answers.query, answers.start, values(stream, component, kind, answers), strict=True
        ):
            assert start not in read[query], "a window is emitted once"
            read[query][int(start)] = value
    return read, raw
