"""Both lanes on Spark, and one process, against `spark.sql` of the user's own statements, all rows of all of them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from jobs.results import read_results
from optimizer.algebra.aggregates import AGGREGATES
from optimizer.plan.definition import Plan
from optimizer.windows.window import Window
from tests.jobs.engine.oracle_expressions import AGGREGATED, PREDICATES
from tests.jobs.engine.questions import EXACT, Question, check, second_argument
from tests.jobs.engine.runs import Answers, answers_in, run_in_process, run_on_spark
from tests.oracle.naive_aggregates import same
from tests.worlds.streams import SECOND, Row, odd_row, ticks
from tests.worlds.warehouse import STREAM, World, make_world

LATENESS = 2 * SECOND
IN_PROCESS = "local"  # beside the lanes on Spark
FRAME_ONLY = {"geometric_mean"}
WINDOWS = [
    Window(10 * SECOND, 10 * SECOND),
    Window(10 * SECOND, 3 * SECOND, SECOND),
    Window(7_500_000, 2_500_000, 1),
    Window(30 * SECOND, 4 * SECOND),
]
GROUPINGS: list[tuple[str, ...]] = [(), ("k",), ("k",), ("i", "k"), ("d",), ("b", "i")]


def some_batches(seed: int) -> list[list[Row]]:
    """Distinct times, so that Spark leaves no tie of first and last open; a gap; two files without events."""
    pick = random.Random(seed)
    times = sorted(pick.sample(range(-40 * SECOND, 60 * SECOND), 120)) + [4_000 * SECOND + n for n in range(5)]
    rows = [odd_row(time, pick.randrange(1 << 20)) for time in times]
    arrived = sorted(rows, key=lambda row: row["ts"] + pick.randrange(LATENESS))
    return [arrived[:50], [], arrived[50:51], [odd_row(None, 1), *arrived[51:]], []]


def every_aggregate(seed: int, only: set[str] | None = None) -> dict[str, Question]:
    """One query for every aggregate that is woven, over changing arguments, windows and predicates."""
    pick = random.Random(seed)
    asked = {}
    for name, aggregate in AGGREGATES.items():
        if aggregate.shared and (only is None or name in only):
            x = pick.choice(list(AGGREGATED[name]))
            y = second_argument(pick, name)
            where = pick.choice(["", *PREDICATES])
            condition = "" if name in ("first", "last", "any_value") else pick.choice(["", *PREDICATES])
            asked[f"q_{name}"] = Question(name, x, y, where, pick.choice(GROUPINGS), pick.choice(WINDOWS), condition)
    return asked


def until(batches: list[list[Row]]) -> int:
    """The watermark at the end."""
    return max(row["ts"] for batch in batches for row in batch if row["ts"] is not None) - LATENESS


def by_spark(frame: DataFrame, world: World, id: str, latest: int) -> dict[Any, Any]:
    """What Spark gives for the user's own SQL: the windows that ended."""
    keys, window = world.catalog.query(id).group_by, world.catalog.query(id).window
    found = {}
    for row in frame.collect():
        if ticks(row.window.end) <= latest:
            value = row[-1]
            place = tuple(row[key] for key in keys), ticks(row.window.end) - window.range
            found[place] = ticks(value) if isinstance(value, datetime) else value
    return found


def ask_spark(spark: SparkSession, world: World, latest: int) -> tuple[dict[str, DataFrame], Answers]:
    """What plain Spark makes of every statement: the frames, for their columns, and the answers."""
    spark.read.parquet(str(world.folder / "data")).coalesce(1).cache().createOrReplaceTempView(STREAM)
    frames = {id: spark.sql(statement.sql) for id, statement in world.catalog.statements.items()}
    answers = {id: by_spark(frame, world, id, latest) for id, frame in frames.items()}
    spark.catalog.clearCache()
    return frames, answers


def same_as_spark(
    spark: SparkSession, world: World, warehouse: str, frames: dict[str, DataFrame], theirs: Answers, ours: Answers
) -> None:
    """Columns, types and rows of every statement."""
    for id, answers in ours.items():
        read = read_results(spark, warehouse, world.catalog, id).schema
        assert [(f.name, f.dataType) for f in read] == [(f.name, f.dataType) for f in frames[id].schema], id
        assert answers.keys() == theirs[id].keys(), id
        if world.catalog.query(id).aggregate in EXACT:
            if world.catalog.query(id).aggregate == "percentile_approx":  # Spark's sketch has no order for NaN
                theirs[id] |= {place: answers[place] for place, other in theirs[id].items() if other != other}
            pairs = [(place, answers[place], other) for place, other in theirs[id].items()]
            apart = [(place, own, other) for place, own, other in pairs if not same(own, other)]
            assert apart == [], (id, world.catalog.statements[id].sql)


def check_on_spark(
    spark: SparkSession, world: World, plans: Mapping[str, Plan], batches: list[list[Row]], asked: dict[str, Question]
) -> None:
    """All rows in every lane, by its plan: as Spark has them for the same SQL, and all as the oracle has them."""
    frames, theirs = ask_spark(spark, world, until(batches))
    for lane, ours in check_lanes(spark, world, plans, batches, asked).items():
        same_as_spark(spark, world, str(world.folder / f"warehouse_{lane}"), frames, theirs, ours)
    check(asked, [row for batch in batches for row in batch], until(batches), theirs)


def check_lanes(
    spark: SparkSession, world: World, plans: Mapping[str, Plan], batches: list[list[Row]], asked: dict[str, Question]
) -> dict[str, Answers]:
    """All rows in every lane, by its plan, as the oracle has them, which costs far less than to ask Spark."""
    answers = {}
    for lane, plan in plans.items():
        if lane == IN_PROCESS:
            storage, manifests = run_in_process(world, plan, buckets=2, warehouse=f"warehouse_{lane}")
            manifest = manifests[-1]
        else:
            storage, manifest, report = run_on_spark(spark, world, plan, lane)
            assert report.lane == lane
        answers[lane] = answers_in(world, storage, manifest, plan)
        check(asked, [row for batch in batches for row in batch], until(batches), answers[lane])
    return answers


@pytest.mark.parametrize(
    ("seed", "aggregates", "strategies"),
    [
        (1, set(AGGREGATES) - FRAME_ONLY, {"file": "cascade", "frame": "tri_weave", IN_PROCESS: "weave_share"}),
        (2, FRAME_ONLY | {"sum", "max_by", "percentile_approx"}, {"frame": "tri_weave"}),
    ],
)
def test_lanes(
    spark: SparkSession, tmp_path: Path, seed: int, aggregates: set[str], strategies: dict[str, str]
) -> None:
    batches = some_batches(seed)
    asked = every_aggregate(seed, aggregates)
    world = make_world(tmp_path, batches, [question.entry(id) for id, question in asked.items()], LATENESS)
    plans = {lane: world.plan(strategy) for lane, strategy in strategies.items()}
    check_on_spark(spark, world, plans, batches, asked)
