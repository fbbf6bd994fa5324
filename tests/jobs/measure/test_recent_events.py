"""What recent events tell the planner: keys, and whether predicates are better evaluated together."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from jobs.measure.recent_events import recent_events
from jobs.measure.stream import recent_by
from jobs.runs.request import Request
from optimizer.catalog.read.load import load_catalog
from optimizer.plan.definition import Measure, Plan
from optimizer.planning.reweave import reweave
from optimizer.planning.stream import plan_stream
from tests.worlds.streams import SECOND, Row, odd_row
from tests.worlds.warehouse import STREAM, World, make_world, query

KEYS = ["a", "b", "c", "d"]


def steady(events: int, spread: int) -> list[Row]:
    """Ten events a second, of four keys in turn; i takes `spread` values."""
    rows = [odd_row(number * SECOND // 10, 1) for number in range(events)]
    return [{**row, "k": KEYS[n % 4], "i": n * 7 % spread} for n, row in enumerate(rows)]


def planned(world: World, strategy: str = "shared") -> Plan:
    return plan_stream(
        world.catalog, STREAM, 10.0, strategy, recent=recent_events(world.catalog, STREAM), technique="auto"
    )


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
    plan, separate = planned(world), plan_stream(world.catalog, STREAM, 10.0, "shared", technique="auto")
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
    assert plan.cost <= plan_stream(world.catalog, STREAM, 10.0, strategy, technique="auto").cost


def test_every_file_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.measure.recent_events.MOST", 200)
    rows = steady(1200, 4)
    world = make_world(tmp_path, [[row for row in rows if row["k"] == key] for key in KEYS], overlapping(1), 0)
    recent = recent_events(world.catalog, STREAM)
    assert recent is not None
    assert len(recent.events.times) == 200
    assert recent.keys(("k",), SECOND) == pytest.approx(4.0, rel=0.1)


def test_nothing_to_measure(tmp_path: Path) -> None:
    world = make_world(tmp_path, [], overlapping(1), 0)
    assert recent_events(world.catalog, STREAM) is None
    assert recent_by(None, world.catalog, STREAM) is None


def test_a_file_that_cannot_be_read_is_left_to_the_evaluation(spark: SparkSession, tmp_path: Path) -> None:
    world = make_world(tmp_path, [], overlapping(1), 0)
    found = world.catalog.streams[STREAM]
    Path(found.path, "part.parquet").write_text("no Parquet")
    assert recent_by(lambda: pytest.fail("Spark could not read it either"), world.catalog, STREAM) is None
    orc = replace(world.catalog, streams={STREAM: replace(found, format="orc")})
    assert recent_by(lambda: spark, orc, STREAM) is None


def test_what_only_spark_evaluates(spark: SparkSession, tmp_path: Path) -> None:
    queries = [
        query(f"q{n}", "sum(x)", 60 * SECOND, where=f"i + sin(i) * 0 >= {n * n}", group_by=["k"]) for n in range(3)
    ]
    world = make_world(tmp_path, [steady(600, 4), steady(1200, 4)[600:]], queries, 0)
    assert recent_by(None, world.catalog, STREAM) is None
    recent = recent_by(lambda: spark, world.catalog, STREAM)
    assert recent is not None
    assert recent.rate == pytest.approx(10.0, rel=0.01)
    assert [recent.share(f"i + sin(i) * 0 >= {n * n}") for n in range(3)] == [1.0, 0.75, 0.0]
    plan = plan_stream(world.catalog, STREAM, 10.0, "shared", recent=recent, technique="auto")
    assert plan.traffic.keys_of(("k",), rows=False) == pytest.approx(4.0)
    assert [tree.sharded for tree in plan.trees] == [True]


def test_other_formats_and_streams_by_sql(spark: SparkSession, tmp_path: Path) -> None:
    rows = [f"1970-01-01T00:00:{n // 10:02d}.{n % 10}Z,{KEYS[n % 4]},{n % 5}" for n in range(500)]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "part.csv").write_text("\n".join(["ts,k,n", *rows]) + "\n")
    streams = {
        "raw": {
            "source": {"format": "csv", "path": "data", "options": {"header": "true", "inferSchema": "true"}},
            "time": "ts",
        },
        "some": {"source": {"sql": "SELECT ts, k, n * 2 AS m FROM raw WHERE k <> 'a'"}, "time": "ts"},
    }
    asked = {"select": "sum(m)", "group_by": ["k"], "range": "10 seconds"}
    queries = [{"id": f"q{n}", "stream": "some", "where": f"m >= {n}", **asked} for n in (2, 4)]
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "c.yaml").write_text(json.dumps({"streams": streams, "queries": queries}))
    lines: list[str] = []
    _, plan = Request(str(tmp_path / "catalog"), "some", str(tmp_path / "warehouse")).load_catalog_and_plan(
        lines.append, lambda: spark
    )
    assert "at 7.5" in lines[0]
    assert "as its newest files have" in lines[0]
    assert plan.traffic.keys_of(("k",), rows=False) == pytest.approx(3.0)
    assert [tree.shards is not None for tree in plan.trees] == [True]


def test_the_shapes_of_other_streams_are_not_asked_for(tmp_path: Path) -> None:
    """One catalog, two streams: each is measured by its own columns, which the other one's events lack."""
    world = make_world(tmp_path, [steady(100, 4)], overlapping(2), 0)
    other = tmp_path / "other"
    other.mkdir()
    pq.write_table(pa.table({"at": pa.array([0, SECOND], pa.timestamp("us", "UTC")), "z": [1, 2]}), other / "a.parquet")
    document = {
        "streams": {"others": {"source": {"format": "parquet", "path": str(other)}, "time": "at"}},
        "queries": [
            {"id": "of_z", "stream": "others", "select": "sum(z)", "where": "z > 1", "range": "1 s", "group_by": "z"},
        ],
    }
    (tmp_path / "catalog" / "others.yaml").write_text(json.dumps(document))
    catalog = load_catalog(tmp_path / "catalog")
    first, second = recent_events(catalog, STREAM), recent_events(catalog, "others")
    assert first is not None
    assert second is not None
    assert first.names == recent_events(world.catalog, STREAM).names  # type: ignore[union-attr]
    assert list(second.names) == ["z > 1"]
    assert second.share("z > 1") == 0.5
    assert second.keys(("z",), SECOND) == 1.0


def test_values_that_hardly_repeat_are_not_kept(tmp_path: Path) -> None:
    """Ten million events a second, each with another value, leave too many values in a window of minutes."""
    rows = [odd_row(number * SECOND, number) | {"n": number, "i": number % 2} for number in range(60)]
    asked = [
        query("many", "count(DISTINCT n)", 300 * SECOND, 20 * SECOND),
        query("few", "median(i)", 20 * SECOND),
        query("rows", "mode(n)", 5, 5) | {"range": "5 rows", "slide": "5 rows"},
    ]
    world = make_world(tmp_path, [rows], asked, 0)
    recent = recent_events(world.catalog, STREAM)
    assert recent is not None
    counts = [recent.entries(Measure("value_counts", (x,), ""), (), 20 * SECOND) for x in ("n", "i", "n + 1")]
    assert counts == [1.0, 0.1, 1.0]  # nobody has looked at the last one
    assert plan_stream(world.catalog, STREAM, 1.0, "shared", recent=recent).unshared == ()
    plan = plan_stream(world.catalog, STREAM, 1e7, "shared", recent=recent)
    assert plan.unshared == ("many",) == tuple(plan.reasons)
    assert "many: its windows hold about 3e+09 different values to keep" in plan.explain()
    assert Plan.from_json(plan.to_json()) == plan
    assert reweave(plan, world.catalog).plan.reasons == plan.reasons
