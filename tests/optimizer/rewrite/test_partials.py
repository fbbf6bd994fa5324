"""Where a slice begins, by each of the ways it is written, is the last edge."""

from __future__ import annotations

import random

from pyspark.sql import SparkSession

from optimizer.rewrite.partials import slice_start, steps_since_edge
from optimizer.windows.edges import Edges, union

SECOND = 1_000_000
PRIMES = (1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049, 1051)
LATE = tuple((60 * SECOND, k * SECOND + SECOND // 2) for k in (3, 7, 17, 29, 31, 43, 47, 58))
SETS: dict[str, Edges] = {
    "least(": union([((7, 5), (6 * SECOND, 0), (10 * SECOND, 3 * SECOND))]),
    " + array(": union([LATE, tuple((24 * SECOND, (k * k + 1) * SECOND) for k in range(1, 5))]),
    "transform(": tuple((size * 1000, size // 3) for size in PRIMES),
}


def last_edge(edges: Edges, tick: int) -> int:
    return max(tick - (tick - residue) % size for size, residue in edges)


def test_every_form_finds_the_last_edge(spark: SparkSession) -> None:
    pick = random.Random(1)
    ticks = [pick.randrange(-(10**12), 2 * 10**15) for _ in range(100)] + list(range(-3, 3))
    starts = [f"unix_micros({slice_start(edges, 'ts')})" for edges in SETS.values()]
    assert all(form in start for form, start in zip(SETS, starts, strict=True))
    rows = ", ".join(f"({tick}L)" for tick in ticks)
    source = f"(SELECT tick, timestamp_micros(tick) AS ts FROM VALUES {rows} AS t(tick))"
    found = spark.sql(f"SELECT tick, {', '.join(starts)} FROM {source}").collect()
    assert [tuple(row) for row in found] == [
        (tick, *(last_edge(edges, tick) for edges in SETS.values())) for tick in ticks
    ]


def test_one_progression_is_a_window_of_sparks() -> None:
    start = slice_start(((5 * SECOND, 2 * SECOND),), "ts")
    assert start == "window(ts, '5 seconds', '5 seconds', '2 seconds').start"


def test_the_table_counts_steps() -> None:
    assert steps_since_edge(((4, 1), (6, 1))) == [0, 1, 0, 0, 0, 1]
