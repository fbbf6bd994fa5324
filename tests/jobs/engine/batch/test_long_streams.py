"""Streams long enough for finals on a grid, against `spark.sql` of the same text: all rows of all queries."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.engine.finals.fold import OnGrid
from jobs.kernels.columns.grid import LONG
from tests.jobs.engine.runs import answers_in, run_in_process
from tests.oracle.naive_aggregates import same
from tests.whole.against_spark.test_against_spark import ask_spark, same_as_spark
from tests.worlds.streams import SECOND, Row, odd_row
from tests.worlds.warehouse import make_world, query

WINDOWS = [(1, 1, 0), (10, 1, 0), (25, 2, 1), (60, 4, 3)]  # seconds: range, slide, offset
AGGREGATES = ["sum(x)", "max(x)", "min(y)", "count(*)", "avg(x)", "stddev_samp(x)", "max_by(n, ts)", "sum(n)"]
EVENTS = 5  # a second


def rows(seed: int) -> list[Row]:
    """Events of a bit more than LONG seconds with pauses; numbers are mostly whole, now and then odd."""
    pick = random.Random(seed)
    times = sorted(pick.sample(range((LONG + 200) * SECOND), (LONG + 200) * EVENTS))
    kept = [time for time in times if time // SECOND % 97 > 2]
    return [
        {
            **odd_row(time, pick.randrange(1 << 20)),
            **({"x": pick.randrange(100) * 1.0} if pick.random() < 0.998 else {}),
        }
        for time in kept
    ]


@pytest.mark.parametrize("keys", [["b"], []])
def test_all_rows(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: list[str]) -> None:
    folded: list[str] = []
    fold = OnGrid.folded
    monkeypatch.setattr(
        OnGrid, "folded", lambda self, measure, *more: folded.append(measure.key) or fold(self, measure, *more)
    )
    events = rows(len(keys))
    asked = [
        query(f"q{number}_{width}", select, width * SECOND, slide * SECOND, offset=offset * SECOND, group_by=keys)
        for number, select in enumerate(AGGREGATES)
        for width, slide, offset in WINDOWS[number % 2 :: 2]
    ]
    world = make_world(tmp_path, [events], asked, 0)
    plan = world.plan("shared", "two_stacks_block")
    storage, manifests = run_in_process(world, plan, buckets=2)
    ours = answers_in(world, storage, manifests[-1], plan)
    assert len(set(folded)) >= 5  # but for moments, and what carries something along
    frames, theirs = ask_spark(spark, world, max(row["ts"] for row in events))
    same_as_spark(spark, world, str(tmp_path / "local"), frames, theirs, ours)
    for id, found in ours.items():
        assert len(found) > LONG // 4
        assert all(same(found[place], theirs[id][place], 1e-9) for place in found), id
