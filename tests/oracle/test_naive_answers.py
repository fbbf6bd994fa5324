"""The oracle's answers against Spark's own, on a small random set with everything odd in it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.windows.window import Window
from tests.oracle import naive
from tests.oracle.naive_aggregates import BY_ORDER, BY_SPARK, OF_PAIRS, OF_SHARES, OF_VALUES, choices, same

MICROSECONDS = timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = 1_000_000
SCHEMA = "ts timestamp, k string, x double, y double, n bigint, b boolean"
ODD = [None, math.nan, math.inf, -math.inf, 0.0, -0.0]
WINDOWS = [
    Window(range=10 * SECOND, slide=10 * SECOND),
    Window(range=10 * SECOND, slide=3 * SECOND),
    Window(range=7_500_000, slide=2_500_000, offset=1_000_001),
]
COLUMNS = {"bool_and": "b", "bool_or": "b", "bit_and": "n", "bit_or": "n", "bit_xor": "n"}
SHARED = [name for name, aggregate in AGGREGATES.items() if aggregate.shared and name not in BY_SPARK]


OPEN = {*BY_ORDER, "mode"}


def second(name: str) -> str:
    """The second argument: a share, or a column."""
    return "0.37" if name in OF_SHARES else "y"


def odd_events(seed: int, count: int) -> list[dict[str, Any]]:
    pick = random.Random(seed)
    return [
        {
            "ts": pick.randrange(-30 * SECOND, 90 * SECOND),
            "k": pick.choice(["a", "b", None]),
            "x": pick.choice(ODD) if pick.random() < 0.15 else pick.uniform(-5, 5),
            "y": pick.choice([None, 1.0, 2.0, 3.0, math.nan]),
            "n": pick.choice([None, pick.randrange(-(2**40), 2**40)]),
            "b": pick.choice([None, True, False]),
        }
        for _ in range(count)
    ]


def view(spark: SparkSession, events: list[dict[str, Any]]) -> None:
    rows = [{**event, "ts": EPOCH + event["ts"] * MICROSECONDS} for event in events]
    spark.createDataFrame(rows, SCHEMA).createOrReplaceTempView("events")


def spark_answers(spark: SparkSession, expressions: dict[str, str], window: Window) -> dict[str, naive.Answers]:
    """Every expression over the view, by key and window start, from one plain query."""
    names = ", ".join(f"{expression} AS {name}" for name, expression in expressions.items())
    duration = ", ".join(f"'{ticks} microseconds'" for ticks in (window.range, window.slide, window.offset))
    rows = spark.sql(
        f"SELECT k, unix_micros(window.start) AS start, {names} FROM events GROUP BY k, window(ts, {duration})"
    ).collect()
    return {name: {((row.k,), row.start): row[name] for row in rows} for name in expressions}


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_every_aggregate(spark: SparkSession, window: Window) -> None:
    events = odd_events(seed=window.offset, count=150)
    view(spark, events)
    column = {name: COLUMNS.get(name, "x") for name in SHARED}
    expressions = {
        name: AGGREGATES[name].spark.format(
            x=column[name], y=second(name), ts="ts", arguments=f"{column[name]}, {second(name)}"
        )
        for name in SHARED
    }
    theirs = spark_answers(spark, expressions, window)
    rows = naive.contents(events, window, ["k"])
    for name in SHARED:
        ours = naive.answers(events, name, window, ["k"], column[name], second(name))
        assert ours.keys() == theirs[name].keys()
        for place, value in ours.items():
            order = "y" if AGGREGATES[name].arguments == 2 else "ts"
            fitting = choices(rows[place], name, column[name], order) if name in OPEN else [value]
            found = theirs[name][place]
            assert any(same(found, fit, tolerance=1e-9) for fit in fitting), (name, place, value, found)


def test_integers_and_counts(spark: SparkSession) -> None:
    events, window = odd_events(seed=9, count=150), WINDOWS[1]
    view(spark, events)
    expressions = {
        name: AGGREGATES[name].spark.format(x="n") for name in ("sum", "min", "max", "range", "avg", "count")
    }
    theirs = spark_answers(spark, {**expressions, "everything": "count(*)"}, window)
    for name in expressions:
        ours = naive.answers(events, name, window, ["k"], "n")
        assert ours.keys() == theirs[name].keys()
        assert all(same(ours[place], theirs[name][place], 1e-12 * (name == "avg")) for place in ours)
    assert naive.answers(events, "count", window, ["k"], "*") == theirs["everything"]


def test_every_shared_aggregate_has_an_oracle() -> None:
    assert {*OF_VALUES, *BY_ORDER, *OF_PAIRS, *OF_SHARES} == set(SHARED)


def test_an_integer_sum_overflows(spark: SparkSession) -> None:
    events = [{"ts": 1, "k": "a", "x": 0.0, "y": 0.0, "n": 2**62, "b": True}] * 2
    view(spark, events)
    with pytest.raises(OverflowError):
        naive.answers(events, "sum", WINDOWS[0], x="n")
    with pytest.raises(Exception, match="ARITHMETIC_OVERFLOW"):
        spark_answers(spark, {"total": "sum(n)"}, WINDOWS[0])


def simple(*times: int) -> list[dict[str, Any]]:
    return [{"ts": ts, "x": ts} for ts in times]


def test_predicates_keep_a_window_only_if_an_event_passes() -> None:
    passes: Callable[[Any], bool] = lambda event: event["x"] > 5  # noqa: E731 - the shape of a where
    assert naive.answers(simple(1, 2, 12), "count", Window(10, 10), where=passes) == {((), 10): 1}


def test_late_for_the_windows_that_were_emitted_only() -> None:
    window = Window(range=10, slide=5)
    emitted, late = naive.answers_in_batches([simple(1, 7), simple(18), simple(3, 8, 13, 30)], "sum", window, 4)
    assert emitted == [
        {},  # the watermark is 3
        {((), -5): 1, ((), 0): 8},  # 14
        {((), 5): 28, ((), 10): 31, ((), 15): 18},  # 26
    ]
    assert [(event["ts"], missed) for event, missed in late] == [(3, 2), (8, 1)]


def test_the_watermark_never_goes_back() -> None:
    emitted, late = naive.answers_in_batches([simple(20), simple(1), simple(2)], "count", Window(5, 5), 0)
    assert emitted == [{}, {}, {}]
    assert len(late) == 2


def test_batches_together_give_what_one_query_gives() -> None:
    events, window = odd_events(seed=3, count=120), WINDOWS[1]
    events.sort(key=lambda event: event["ts"])
    batches = [events[:40], events[40:41], [], events[41:]]
    emitted, late = naive.answers_in_batches(batches, "count", window, 0, ["k"], "x")
    together = {place: value for answers in emitted for place, value in answers.items()}
    everything = naive.answers(events, "count", window, ["k"], "x")
    last = events[-1]["ts"]
    assert together == {place: value for place, value in everything.items() if place[1] + window.range <= last}
    assert not late


def test_rows_are_the_clock_of_row_windows() -> None:
    window = Window(range=3, slide=2, rows=True)
    assert naive.answers(simple(50, 10, 40, 20, 30), "sum", window) == {
        ((), -2): 10,
        ((), 0): 60,
        ((), 2): 120,
        ((), 4): 50,
    }
