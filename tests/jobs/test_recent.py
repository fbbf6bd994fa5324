"""What recent events tell the planner: keys, and whether predicates are better evaluated together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.recent import recent_events
from optimizer.plan import Plan
from optimizer.stream_planning import plan_stream
from tests.engine.running import STREAM, World, make_world, query
from tests.engine.world import SECOND, Row, odd_row

KEYS = ["a", "b", "c", "d"]


def steady(events: int, spread: int) -> list[Row]:
    """Ten events a second, of four keys in turn; i takes `spread` values."""
    rows = [odd_row(number * SECOND // 10, 1) for number in range(events)]
    return [{**row, "k": KEYS[n % 4], "i": n * 7 % spread} for n, row in enumerate(rows)]


def planned(world: World, strategy: str = "shared") -> Plan:
    return plan_stream(world.catalog, STREAM, 10.0, strategy, recent=recent_events(world.catalog, STREAM))


def overlapping(count: int, **more: Any) -> list[dict[str, Any]]:
    return [query(f"q{n}", "sum(x)", 60 * SECOND, where=f"i >= {n}", group_by=["k"], **more) for n in range(count)]


def test_few_signatures_make_shards(tmp_path: Path) -> None:
    world = make_world(tmp_path, [steady(1200, 4)], overlapping(3), 0)
    plan = planned(world)
    (tree,) = plan.trees
    assert tree.shards is not None
    assert tree.sharded
    assert tree.shards.predicates == 3
    assert tree.shards.events == pytest.approx(10.0)  # i >= 0 passes all
    assert tree.shards.alpha == pytest.approx((4 + 3 + 2) / 4)
    assert tree.shards.shards == pytest.approx(4 / 60)  # i tells k: a key has one signature, a minute long
    assert tree.shards.beta == pytest.approx((3 + 3 + 2 + 1) / 4)
    assert tree.shards.together == pytest.approx(10 + 9 / 60)
    assert tree.shards.separately == pytest.approx(22.5)
    assert plan.traffic.keys_of(("k",), rows=False) == pytest.approx(4.0)
    assert plan.cost == pytest.approx(plan.recomputed_cost(), rel=1e-12)
    assert "3 predicates, shards: |T| + k*beta = 10 + 0.06667 * 2.25, alpha*|T| = 2.25 * 10" in plan.explain()


def test_a_shard_for_every_event_is_evaluated_separately(tmp_path: Path) -> None:
    queries = [query(f"q{n}", "sum(x)", SECOND // 10, where=f"i >= {n}", group_by=["k"]) for n in range(3)]
    plan = planned(make_world(tmp_path, [steady(1200, 4)], queries, 0))
    assert not any(tree.sharded for tree in plan.trees)
    assert "evaluated separately" in plan.explain()


def test_the_choice_is_part_of_the_plan(tmp_path: Path) -> None:
    world = make_world(tmp_path, [steady(1200, 4)], overlapping(3), 0)
    plan, separate = planned(world), plan_stream(world.catalog, STREAM, 10.0, "shared")
    assert Plan.from_json(plan.to_json()) == plan
    assert plan.fingerprint() != separate.fingerprint()
    assert Plan.from_json(separate.to_json()) == separate


@pytest.mark.parametrize("strategy", ["weave_share", "cascade", "tri_weave", "no_share"])
def test_shards_are_never_dearer(tmp_path: Path, strategy: str) -> None:
    longer = [
        query(f"w{n}", "max(y)", (60 + n) * SECOND, 60 * SECOND, where=f"i = {n}", group_by=["k"]) for n in (0, 1)
    ]
    world = make_world(tmp_path, [steady(1200, 4)], overlapping(6) + longer, 0)
    plan = planned(world, strategy)
    assert plan.cost <= plan.costs.no_share * (1 + 1e-12)
    assert plan.cost == pytest.approx(plan.recomputed_cost(), rel=1e-12)
    assert plan.cost <= plan_stream(world.catalog, STREAM, 10.0, strategy).cost


def test_nothing_to_measure(tmp_path: Path) -> None:
    world = make_world(tmp_path, [], overlapping(1), 0)
    assert recent_events(world.catalog, STREAM) is None


def test_what_only_spark_can_evaluate_is_measured_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    queries = [query(f"q{n}", "sum(x)", SECOND, where=f"sqrt(i) > {n}", group_by=["k"]) for n in (0, 1)]
    found = recent_events(make_world(tmp_path, [steady(100, 4)], queries, 0).catalog, STREAM)
    assert found is not None
    assert found.share("sqrt(i) > 0") == pytest.approx(3 / 4)
    assert found.share("sqrt(i) > 1") == pytest.approx(2 / 4)
    assert found.keys(("k",), SECOND) == pytest.approx(4.0)
