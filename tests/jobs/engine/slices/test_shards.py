"""Predicates in shards: the same rows as evaluated separately, as the oracle's, as Spark's, in both lanes."""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from jobs.engine.events.keys import Signatures, signature_column, signatures, unpack_signatures
from optimizer.algebra.aggregates import AGGREGATES
from optimizer.plan.definition import Plan
from optimizer.windows.window import Window
from tests.jobs.engine.oracle_expressions import PREDICATES, compared, constant
from tests.jobs.engine.questions import Question, check, questions
from tests.jobs.engine.runs import answers_in, run_in_process, run_on_spark
from tests.jobs.engine.shard_plans import forced
from tests.whole.against_spark.test_against_spark import (
    FRAME_ONLY,
    LATENESS,
    check_lanes,
    every_aggregate,
    some_batches,
)
from tests.worlds.streams import SECOND, Arrival, arrivals, odd_row
from tests.worlds.warehouse import make_world, query

QUICKLY = settings(deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, (1 << 70) - 1), max_size=30), st.integers(1, 70), st.data())
def test_signatures_are_what_the_masks_say(events: list[int], predicates: int, data: st.DataObject) -> None:
    masks = [np.array([bool(event >> bit & 1) for event in events], np.bool_) for bit in range(predicates)]
    found = signatures(masks)
    assert np.array_equal(found.tests[found.codes], np.array(masks, np.bool_).T.reshape(len(events), predicates))
    assert len(found.tests) == len({event % (1 << predicates) for event in events})
    some = sorted(data.draw(st.sets(st.integers(0, predicates - 1), min_size=1)))
    part = found.select(some)
    assert np.array_equal(part.tests[part.codes], found.tests[found.codes][:, some])
    assert len(np.unique(part.tests, axis=0)) == len(part.tests)
    column = signature_column(part.tests)
    kept = pa.chunked_array([column.slice(1), column])
    assert np.array_equal(unpack_signatures(kept, len(some)), np.concatenate([part.tests[1:], part.tests]))


def test_signatures_are_discovered_never_enumerated() -> None:
    masks = [np.arange(1000) % (bit + 2) == 0 for bit in range(300)]
    found: Signatures = signatures(masks)
    assert len(found.tests) <= 1000


@settings(QUICKLY, max_examples=15)
@given(
    asked=st.lists(questions(), min_size=2, max_size=8),
    arrival=arrivals(),
    strategy=st.sampled_from(["shared", "weave_share", "tri_weave", "cascade"]),
    buckets=st.sampled_from([1, 3]),
)
def test_random_catalogs(asked: list[Question], arrival: Arrival, strategy: str, buckets: int) -> None:
    named = {f"q{number}": question for number, question in enumerate(asked)}
    folder = Path(tempfile.mkdtemp())
    try:
        entries = [question.entry(id) for id, question in named.items()]
        world = make_world(folder, arrival.batches, entries, arrival.lateness)
        plan = forced(world.plan(strategy))
        storage, manifests = run_in_process(world, plan, buckets)
        check(named, arrival.events, arrival.until, answers_in(world, storage, manifests[-1], plan))
    finally:
        shutil.rmtree(folder)


def many_predicates(count: int) -> dict[str, Question]:
    """Queries with a predicate of their own each, and one without."""
    asked = {"all": Question("count", "*", "", "", ("k",), Window(4 * SECOND, 2 * SECOND))}
    for number in range(count):
        where = f"n > {number * 3}"
        PREDICATES.setdefault(where, compared(lambda c: c > 0, lambda row: row["n"], constant(number * 3)))
        aggregate = ("sum", "max", "argmin", "avg")[number % 4]
        y = "i" if aggregate == "argmin" else ""
        asked[f"q{number:03d}"] = Question(aggregate, "x", y, where, ("k",), Window(4 * SECOND, 2 * SECOND))
    return asked


@pytest.mark.parametrize("lane", ["", "file", "frame"])
def test_more_predicates_than_bits_of_a_word(spark: SparkSession, tmp_path: Path, lane: str) -> None:
    pick = random.Random(5)
    rows = [odd_row(pick.randrange(30 * SECOND), pick.randrange(1 << 20)) for _ in range(400)]
    rows.append(odd_row(100 * SECOND, 1))  # lets all windows before it end
    batches = [rows[:150], rows[150:]]
    asked = many_predicates(70)
    world = make_world(tmp_path, batches, [question.entry(id) for id, question in asked.items()], 30 * SECOND)
    plan = forced(world.plan("shared"))
    assert max(len(tree.bits) for _, tree in world.program(plan).roots()) == 70
    if lane:
        storage, manifest, _ = run_on_spark(spark, world, plan, lane)
    else:
        storage, manifests = run_in_process(world, plan, buckets=2)
        manifest = manifests[-1]
    found = answers_in(world, storage, manifest, plan)
    assert all(found.values())
    check(asked, rows, 70 * SECOND, found)


def test_shards_fold_fewer_events(tmp_path: Path) -> None:
    rows = [odd_row(number * 1000, number % 7) for number in range(3000)]
    entries = [query(f"q{n}", "sum(i)", SECOND, where=f"i >= {n - 5}", group_by=["k"]) for n in range(9)]
    world = make_world(tmp_path, [rows[:2000], rows[2000:]], entries, 0)
    plan = world.plan("shared")
    found = {}
    for name, each in (("together", forced(plan)), ("separately", forced(plan, shards=False))):
        storage, manifests = run_in_process(world, each, warehouse=name)
        found[name] = answers_in(world, storage, manifests[-1], plan)
        found[f"{name} operations"] = sum(sum(m.counts["operations"].values()) for m in manifests)
    assert found["together"] == found["separately"]
    assert found["together operations"] * 3 < found["separately operations"]


def test_lanes(spark: SparkSession, tmp_path: Path) -> None:
    batches = some_batches(11)
    asked = every_aggregate(11, set(AGGREGATES) - FRAME_ONLY)
    world = make_world(tmp_path, batches, [question.entry(id) for id, question in asked.items()], LATENESS)
    plan: Plan = forced(world.plan("shared"))
    assert any(tree.sharded for tree in plan.trees)
    check_lanes(spark, world, dict.fromkeys(("file", "frame"), plan), batches, asked)
