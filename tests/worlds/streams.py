"""Odd events, everything an answer may trip over, and random arrivals of them.

Events are plain rows that the oracle, Arrow and Spark all read alike.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

Row = dict[str, Any]  # one event; ts in microseconds, None is null

SECOND = 1_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SCHEMA = pa.schema(
    [
        ("ts", pa.timestamp("us", "UTC")),
        ("k", pa.string()),
        ("i", pa.int32()),
        ("d", pa.date32()),
        ("b", pa.bool_()),
        ("x", pa.float64()),
        ("y", pa.float64()),
        ("n", pa.int64()),
        ("s", pa.string()),
        ("f", pa.float32()),
        ("m", pa.int64()),
    ]
)
KEYS = ("k", "i", "d", "b")
ODD = [None, math.nan, math.inf, -math.inf, 0.0, -0.0]
TEXTS = [None, "", "a", "B", "é", "zz", "\U0001f600", "a\x00b", "A"]
BIG = (1 << 63) - 1
ORIGINS = [0, -45 * SECOND, -3_000_000 * SECOND - 1, 1_700_000_000 * SECOND]
LATENESS = [0, 1, SECOND, 7 * SECOND]


def odd_row(ts: int | None, code: int) -> Row:
    """An event whose columns depend on nothing but the code; 0 is the plainest."""
    pick = random.Random(code)

    def number() -> float | None:
        plain = pick.choice([pick.uniform(-50, 50), pick.randrange(9) * 1.0])
        return pick.choice(ODD) if pick.random() < 0.2 else plain

    return {
        "ts": ts,
        "k": pick.choice(["a", "b", "c", None]),
        "i": pick.choice([None, -3, 0, 1, 2]),
        "d": pick.choice([None, date(1969, 12, 30), date(2024, 2, 29)]),
        "b": pick.choice([None, True, False]),
        "x": number(),
        "y": number(),
        "n": pick.choice([None, pick.randrange(-(1 << 40), 1 << 40), pick.randrange(100)]),
        "s": pick.choice(TEXTS),
        "f": pick.choice([None, math.nan, 0.1, 1.5, -2.25, 16777217.0]),
        "m": -(code % 1000),
    }


def near_overflow(rows: list[Row], position: int) -> list[Row]:
    """One event whose m is the largest there is: no sum with the others, which are below zero, overflows."""
    return [{**row, "m": BIG} if place == position else row for place, row in enumerate(rows)]


def table_of(rows: list[Row]) -> pa.Table:
    """Events as an Arrow table."""
    return pa.Table.from_pylist([{**row, "ts": instant(row["ts"])} for row in rows], SCHEMA)


def instant(ts: int | None) -> datetime | None:
    """Microseconds as a timestamp."""
    return None if ts is None else EPOCH + timedelta(microseconds=ts)


def ticks(moment: Any) -> int:
    """A timestamp as microseconds; without a zone it is in UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - EPOCH) // timedelta(microseconds=1)


@dataclass(frozen=True)
class Arrival:
    """Batches as they arrive, and how late an event may be."""

    batches: list[list[Row]]
    lateness: int

    @property
    def events(self) -> list[Row]:
        """All events."""
        return [row for batch in self.batches for row in batch]

    @property
    def until(self) -> int | None:
        """The watermark after the last batch."""
        times = [row["ts"] for row in self.events if row["ts"] is not None]
        return max(times) - self.lateness if times else None


@st.composite
def times(draw: st.DrawFn) -> int:
    """Often on the edges of windows, often twice, sometimes after a gap longer than any range."""
    half_seconds = draw(st.integers(0, 80))
    jitter = draw(st.sampled_from([0, 0, 0, 1, -1, 333_333]))
    gap = draw(st.sampled_from([0, 0, 0, 0, 4_000]))
    return half_seconds * SECOND // 2 + jitter + gap * SECOND


@st.composite
def arrivals(draw: st.DrawFn, least: int = 0, most: int = 60) -> Arrival:
    """Events that come in any order within the lateness, in one to five batches, some of them empty."""
    origin, lateness = draw(st.sampled_from(ORIGINS)), draw(st.sampled_from(LATENESS))
    drawn = draw(
        st.lists(st.tuples(times(), st.integers(0, 1 << 20), st.integers(0, 100)), min_size=least, max_size=most)
    )
    rows = [(origin + time, delay * lateness // 101, odd_row(origin + time, code)) for time, code, delay in drawn]
    ordered = [row for _, _, row in sorted(rows, key=lambda item: item[0] + item[1])]
    for position in draw(st.lists(st.integers(0, most), max_size=2)):
        ordered.insert(position, odd_row(None, position))
    ordered = near_overflow(ordered, draw(st.integers(0, most)))
    cuts = sorted(draw(st.lists(st.integers(0, len(ordered)), max_size=4)))
    bounds = [0, *cuts, len(ordered)]
    return Arrival([ordered[a:b] for a, b in pairwise(bounds)], lateness)
