"""Odd events: everything an answer may trip over, as plain rows that the oracle, Arrow and Spark all read alike."""

from __future__ import annotations

import math
import random
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa

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
