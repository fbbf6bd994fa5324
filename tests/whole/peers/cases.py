"""The inputs and rows that other engines' own test suites expect, as facts: events in, windows out.

Times are seconds after a suite's own base. An event is (seconds, number, key); a row is (key, start, value). What a
suite asks that is no aggregate over a sliding window is left out: see LEFT_OUT.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Event = tuple[float | None, float | None, str | None]
Rows = dict[tuple[str | None, float], Any]

SPARK_WINDOWS = "Spark: DataFrameTimeWindowingSuite"
SPARK_WATERMARK = "Spark: EventTimeWatermarkSuite"
FLINK = "Flink: WindowAggregateITCase"
KSQL = "ksqlDB: hopping-windows"
GRACE = "ksqlDB: suppress (windows with grace, final rows)"
END = 10_000_000.0  # seconds: an event that lets every window end, and is in none of the rows


@dataclass(frozen=True)
class Case:
    """Batches of events, a query over them, and the rows that are there after every batch, or after the last."""

    suite: str
    name: str
    batches: list[list[Event]]
    window: dict[str, str]
    expected: Rows | list[Rows]  # a list has the rows after each batch
    select: str = "count(*)"
    keyed: bool = False
    lateness: str = "0 seconds"
    late: int | None = None  # events in the late table in the end
    base: int = 0  # seconds after 1970 of second 0
    since: float = field(default=-END)  # rows of windows that start earlier differ: see docs/trust.md
    where: str = ""
    has_end: bool = True  # an event that lets every window end comes last; else every batch is a run of its own


def seconds(size: float, slide: float = 0, offset: float = 0) -> dict[str, str]:
    """Return the lengths of a window."""
    lengths = {"range": size, "slide": slide or size, "offset": offset}
    return {
        name: f"{round(length * 1000)} milliseconds" for name, length in lengths.items() if length or name != "offset"
    }


def rows(**starts: Any) -> Rows:
    """Return rows without a key: `s18=1` is the window that starts at 18."""
    return {(None, float(start[1:])): value for start, value in starts.items()}


HALF_PAST_SEVEN = 1_459_107_540  # 2016-03-27 19:39:00
NINE = 1_459_069_200  # 2016-03-27 09:00:00
THREE: list[Event] = [(34, 1, "a"), (56, 2, "a"), (27, 4, "b")]
MILLISECONDS: list[Event] = [(0.41, 3, None), (0.62, 6, None), (0.715, 8, None)]
APPEND = seconds(5)

CASES = [
    Case(SPARK_WINDOWS, "an event at the start", [[(30, 1, "a")]], seconds(10), rows(s30=1), base=HALF_PAST_SEVEN),
    Case(
        SPARK_WINDOWS,
        "a negative offset",
        [[(30, 1, "a"), (25, 2, "a")]],
        seconds(10, 10, -5),
        rows(s25=2),
        base=HALF_PAST_SEVEN,
    ),
    Case(SPARK_WINDOWS, "tumbling", [THREE], seconds(10), rows(s20=1, s30=1, s50=1), base=HALF_PAST_SEVEN),
    Case(
        SPARK_WINDOWS,
        "tumbling by key with an offset",
        [THREE],
        seconds(10, 10, 5),
        {("b", 25): 1, ("a", 25): 1, ("a", 55): 1},
        keyed=True,
        base=HALF_PAST_SEVEN,
    ),
    Case(
        SPARK_WINDOWS,
        "tumbling by key with a negative offset",
        [THREE],
        seconds(10, 10, -5),
        {("b", 25): 1, ("a", 25): 1, ("a", 55): 1},
        keyed=True,
        base=HALF_PAST_SEVEN,
    ),
    Case(SPARK_WINDOWS, "values", [THREE], seconds(10), rows(s20=4, s30=1, s50=2), "max(x)", base=HALF_PAST_SEVEN),
    Case(
        SPARK_WINDOWS,
        "sliding, the range no multiple of the slide",
        [THREE],
        seconds(10, 3),
        rows(s18=1, s21=1, s24=1, s27=2, s30=1, s33=1, s48=1, s51=1, s54=1),
        base=HALF_PAST_SEVEN,
    ),
    Case(
        SPARK_WINDOWS,
        "events without a time",
        [[(5, 1, None), (32, 2, None), (None, 3, None), (None, 4, None)]],
        seconds(10),
        rows(s0=1, s30=2),
        "max(x)",
        base=NINE,
    ),
    Case(
        SPARK_WINDOWS,
        "a window that starts before 1970",
        [[(2, 1, None), (12, 2, None)]],
        seconds(10, 10, 5),
        {(None, -5): 1, (None, 5): 2},
        "max(x)",
    ),
    Case(
        SPARK_WINDOWS,
        "milliseconds",
        [MILLISECONDS],
        seconds(0.2, 0.04),
        {(None, start / 100): 2 if start in (52, 56, 60) else 1 for start in range(24, 72, 4)},
        base=NINE,
    ),
    Case(
        SPARK_WATERMARK,
        "append mode",
        [[(t, None, None) for t in range(10, 16)], [(25, None, None)], [(10, None, None)]],
        APPEND,
        [{}, rows(s10=5), rows(s10=5)],
        lateness="10 seconds",
        late=1,
    ),
    Case(
        SPARK_WATERMARK,
        "the watermark from batch to batch",
        [[(t, None, None) for t in batch] for batch in ([15], [10, 12, 14], [25], [50], [50])],
        APPEND,
        [{}, {}, rows(s10=3), rows(s10=3, s15=1, s25=1), rows(s10=3, s15=1, s25=1)],
        lateness="10 seconds",
        late=0,
    ),
    Case(
        SPARK_WATERMARK,
        "recovery",
        [[(t, None, None) for t in batch] for batch in (range(10, 16), [25], [10, 27, 30], [17], [40])],
        APPEND,
        [{}, rows(s10=5), rows(s10=5, s15=1), rows(s10=5, s15=1), rows(s10=5, s15=1, s25=2)],
        lateness="10 seconds",
        late=2,
    ),
]

# (second, number, float, decimal, key): name `a`, `b` or null; the second event at 4 comes late
TEN_TEN = 1_602_288_000  # 2020-10-10 00:00:00
FLINK_EVENTS: list[tuple[float, float | None, float | None, float | None, str | None]] = [
    (1, 1, 1, 1.11, "a"),
    (2, 2, 2, 2.22, "a"),
    (3, 2, 2, 2.22, "a"),
    (4, 5, 5, 5.55, "a"),
    (7, 3, 3, None, "b"),
    (6, 6, 6, 6.66, "b"),
    (8, None, 3, 3.33, "a"),
    (4, 5, None, 5.55, "a"),
    (16, 4, 4, 4.44, "b"),
    (32, 7, 7, 7.77, None),
    (34, 3, 3, 3.33, "b"),
]
TUMBLED = {  # (key, start): count, sum of decimals, largest number, smallest float
    ("a", 0): (4, 11.10, 5, 1),
    ("a", 5): (1, 3.33, None, 3),
    ("b", 5): (2, 6.66, 6, 3),
    ("b", 15): (1, 4.44, 4, 4),
    ("b", 30): (1, 3.33, 3, 3),
    (None, 30): (1, 7.77, 7, 7),
}
HOPPED = {
    ("a", -5): (4, 11.10, 5, 1),
    ("a", 0): (6, 19.98, 5, 1),
    ("a", 5): (1, 3.33, None, 3),
    ("b", 0): (2, 6.66, 6, 3),
    ("b", 5): (2, 6.66, 6, 3),
    ("b", 10): (1, 4.44, 4, 4),
    ("b", 15): (1, 4.44, 4, 4),
    ("b", 25): (1, 3.33, 3, 3),
    ("b", 30): (1, 3.33, 3, 3),
    (None, 25): (1, 7.77, 7, 7),
    (None, 30): (1, 7.77, 7, 7),
}
ALL_KEYS_TUMBLED = {0: (4, 11.10, 5, 1), 5: (3, 9.99, 6, 3), 15: (1, 4.44, 4, 4), 30: (2, 11.10, 7, 3)}
ALL_KEYS_HOPPED = {
    -5: (4, 11.10, 5, 1),
    0: (8, 26.64, 6, 1),
    5: (3, 9.99, 6, 3),
    10: (1, 4.44, 4, 4),
    15: (1, 4.44, 4, 4),
    25: (2, 11.10, 7, 3),
    30: (2, 11.10, 7, 3),
}
# texts are numbers here: 1 for "Hi", 2 to 4 for the first two comments and "Hello", and so on; of each event, in order
FLINK_TEXTS: list[float | None] = [1, 2, 2, None, 4, 1, 3, 1, 1, None, 5]
DISTINCT: dict[str, dict[tuple[str | None, float], int]] = {  # texts in every window, by query
    "tumbling": {("a", 0): 2, ("a", 5): 1, ("b", 5): 2, ("b", 15): 1, ("b", 30): 1, (None, 30): 0},
    "hopping": {("a", -5): 2, ("a", 0): 3, ("a", 5): 1, ("b", 0): 2, ("b", 5): 2, ("b", 10): 1, ("b", 15): 1}
    | {("b", 25): 1, ("b", 30): 1, (None, 25): 0, (None, 30): 0},
    "tumbling, all keys together": {(None, 0): 2, (None, 5): 3, (None, 15): 1, (None, 30): 1},
    "hopping, all keys together": {(None, -5): 2, (None, 0): 4, (None, 5): 3}
    | {(None, start): 1 for start in (10, 15, 25, 30)},
    "a day, 8 hours on": {(key, -16 * 3600): count for key, count in (("a", 3), ("b", 3), (None, 0))},
    "a day, 8 hours back": {(key, -8 * 3600): count for key, count in (("a", 3), ("b", 3), (None, 0))},
}
DAY = {"a": (6, 19.98, 5, 1), "b": (4, 14.43, 6, 3), None: (1, 7.77, 7, 7)}
HOUR = 3600


def _flink() -> list[Case]:
    """Return a case for every aggregate of every query; each event is a batch, as its watermark is."""
    queries: list[tuple[str, dict[str, str], dict[tuple[str | None, float], Any], bool]] = [
        ("tumbling", seconds(5), dict(TUMBLED), True),
        ("hopping", seconds(10, 5), dict(HOPPED), True),
        ("tumbling, all keys together", seconds(5), {(None, s): v for s, v in ALL_KEYS_TUMBLED.items()}, False),
        ("hopping, all keys together", seconds(10, 5), {(None, s): v for s, v in ALL_KEYS_HOPPED.items()}, False),
        ("a day, 8 hours on", seconds(24 * HOUR, 0, 8 * HOUR), {(k, -16 * HOUR): v for k, v in DAY.items()}, True),
        ("a day, 8 hours back", seconds(24 * HOUR, 0, -8 * HOUR), {(k, -8 * HOUR): v for k, v in DAY.items()}, True),
    ]
    selects = {"count(*)": lambda e: e[1], "sum(x)": lambda e: e[3], "max(x)": lambda e: e[1], "min(x)": lambda e: e[2]}
    cases = []
    for name, window, expected, keyed in queries:
        for place, (select, number) in enumerate(selects.items()):
            batches: list[list[Event]] = [[(event[0], number(event), event[4])] for event in FLINK_EVENTS]
            found = {at: values[place] for at, values in expected.items()}
            label = f"{name}: {select}{' of decimals' if place == 1 else ' of floats' if place == 3 else ''}"
            cases.append(Case(FLINK, label, batches, window, found, select, keyed, "1 second", base=TEN_TEN))
        texts: list[list[Event]] = [[(e[0], text, e[4])] for e, text in zip(FLINK_EVENTS, FLINK_TEXTS, strict=True)]
        label, select = f"{name}: count(DISTINCT) of texts", "count(DISTINCT x)"
        cases.append(Case(FLINK, label, texts, window, dict(DISTINCT[name]), select, keyed, "1 second", base=TEN_TEN))
    return cases


LONG_GRACE = "1 day"
KSQL_EVENTS: list[Event] = [
    (0, 0, "0"),
    (10, 5, "0"),
    (30, 100, "100"),
    (45, 6, "100"),
    (50, 300, "100"),
    (35, 100, "0"),
    (40, 2000, "0"),
]
CASES += _flink()
CASES += [
    Case(
        KSQL,
        "max",
        [[event] for event in KSQL_EVENTS],
        seconds(30, 10),
        {("0", 0): 5, ("0", 10): 100, ("0", 20): 2000, ("0", 30): 2000, ("0", 40): 2000}
        | {("100", 10): 100, ("100", 20): 100, ("100", 30): 300, ("100", 40): 300, ("100", 50): 300},
        "max(x)",
        keyed=True,
        lateness=LONG_GRACE,
        since=0,
    ),
    Case(
        KSQL,
        "min",
        [[event] for event in KSQL_EVENTS[:3]],
        seconds(30, 10),
        {("0", 0): 0, ("0", 10): 5, ("100", 10): 100, ("100", 20): 100, ("100", 30): 100},
        "min(x)",
        keyed=True,
        lateness=LONG_GRACE,
        since=0,
    ),
    Case(
        KSQL,
        "count",
        [[(10.345, None, "0")], [(13.251, None, "0")]],
        seconds(5, 1),
        {("0", start): 2 if start in (9, 10) else 1 for start in range(6, 14)},
        keyed=True,
        lateness=LONG_GRACE,
        since=0,
    ),
]


def _graced(
    name: str,
    events: str,
    expected: dict[tuple[str, int], int],
    window: tuple[float, float] = (0.002, 0),
    grace: int = 1,
    late: int = 0,
    **more: Any,
) -> Case:
    """Return a case in milliseconds, each event a batch: `5` is one of k1 at 5, `k2@5` one of k2, `-@5` one of no key,
    `5!` one without a value. The rows are those of windows that have ended by the last event."""
    batches: list[list[Event]] = []
    for word in events.split():
        key, _, at = word.rpartition("@")
        value = None if at.endswith("!") else 1.0
        batches.append([(int(at.rstrip("!")) / 1000, value, None if key == "-" else key or "k1")])
    rows: Rows = {(key, start / 1000): count for (key, start), count in expected.items()}
    lateness = f"{grace} milliseconds"
    return Case(
        GRACE,
        name,
        batches,
        seconds(*window),
        rows,
        **{"keyed": True, "since": 0, "has_end": False, "late": late, "lateness": lateness, **more},
    )


NO_KEY = "k IS NOT NULL"  # which is what ksqlDB does with events without a key
CASES += [
    _graced("ended at once without grace", "0 1 2", {("k1", 0): 2}, grace=0),
    _graced("not ended yet", "0 1", {}, grace=0),
    _graced("out of order within the grace", "0 1 2 1 0 5", {("k1", 0): 4, ("k1", 2): 1}),
    _graced("after the grace", "0 1 2 1 0 5 0", {("k1", 0): 4, ("k1", 2): 1}, late=1),
    _graced("without values", "0! 1 1! 2 -@1 0 5", {("k1", 0): 2, ("k1", 2): 1}, select="count(x)", where=NO_KEY),
    _graced("without keys", "0 -@1 -@2 -@1 -@0 5", {("k1", 0): 1}, where=NO_KEY),
    _graced("a large jump", "0 1 2 0 3 0 4 0 30", {("k1", 0): 4, ("k1", 2): 2, ("k1", 4): 1}, grace=2, late=1),
    _graced("hopping", "0 1 2 1 6 5 10", {("k1", 0): 4, ("k1", 2): 3, ("k1", 4): 2}, (0.005, 0.002)),
    _graced("several keys", "0 k2@1 2 1 k2@0 5 0 k2@2", {("k1", 0): 2, ("k2", 0): 2, ("k1", 2): 1}, late=2),
]

LEFT_OUT = {
    SPARK_WINDOWS: "projections of several rows a window, explode and joins of windows: a query is one aggregate",
    SPARK_WATERMARK: "sessions, update and complete mode, grouping by the raw time, several watermarks: windows "
    "slide, and a row is emitted once",
    FLINK: "user-defined aggregates, CUMULATE windows, GROUPING SETS, CUBE and ROLLUP, windows of "
    "windows; grouping by nothing is asked as a query of its own",
    KSQL: "topk, and streams that are windows already; rows of windows that start before 1970, which Spark has and "
    "ksqlDB has not",
    GRACE: "sessions and joins; a case twice under two names; an event without a time, which is taken for one at 0 "
    "there and is in no window here; events without a key, which are in no row there, are left out by the query",
}


def table_of_cases() -> str:
    """Return the table of docs/trust.md; the test of the cases passes as a whole or not at all."""
    lines = ["| suite | cases | pass | what is left out, and why |", "|---|---|---|---|"]
    for suite, reason in LEFT_OUT.items():
        count = sum(case.suite == suite for case in CASES)
        lines.append(f"| {suite} | {count} | {count} | {reason} |")
    return "\n".join(lines)
