"""Planning a catalog's stream: groups, measures, techniques by algebra, units."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer import Plan, Window, optimize
from optimizer.algebra.techniques import allowed
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError
from optimizer.plan.definition import EVENTS, Measure
from optimizer.planning.stream import plan_stream
from optimizer.strategies import STRATEGIES

STREAM = """
streams:
  vibration: {source: {format: parquet, path: data}, time: ts, lateness: 5 seconds}
queries:
"""
QUERIES = """
  - {id: peak, stream: vibration, select: max(x), where: "label = 'good'", group_by: [machine], range: 60s, slide: 10s}
  - {id: mean, stream: vibration, select: avg(x), group_by: [machine], range: 5 minutes, slide: 30 seconds}
  - {id: total, stream: vibration, select: sum(x), group_by: [machine], range: 90 seconds, slide: 20 seconds}
  - {id: many, stream: vibration, select: count(x), group_by: [machine], range: 2 minutes, slide: 20 seconds}
  - {id: middle, stream: vibration, select: collect_set(x), group_by: [machine], range: 1 minute, slide: 10 seconds}
  - {id: overall, stream: vibration, select: max(x), range: 1 minute, slide: 10 seconds}
  - {id: lately, stream: vibration, select: min(x), group_by: [machine], range: 1000 rows, slide: 100 rows}
"""


def catalog_of(folder: Path, queries: str) -> Catalog:
    folder.mkdir(exist_ok=True)
    (folder / "catalog.yaml").write_text(STREAM + queries)
    return load_catalog(folder)


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return catalog_of(tmp_path, QUERIES)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_shared_query_is_in_one_tree(catalog: Catalog, strategy: str) -> None:
    plan = plan_stream(catalog, "vibration", 500.0, strategy, keys=7.0, technique="auto")
    answered = sorted(query for tree in plan.trees for query in tree.queries)
    assert answered == ["lately", "many", "mean", "overall", "peak", "total"]
    assert plan.unshared == ("middle",) == tuple(catalog.unshared("vibration"))
    assert plan.catalog_fingerprint == catalog.fingerprint("vibration")
    assert plan.cost == pytest.approx(plan.recomputed_cost(), rel=1e-12)
    assert Plan.from_json(plan.to_json()) == plan
    assert "1 query on plain Spark: middle" in plan.explain()
    if strategy != "shared":
        assert plan.cost <= plan.costs.no_share * (1 + 1e-12)


def test_trees_hold_one_clock_and_one_grouping(catalog: Catalog) -> None:
    plan = plan_stream(catalog, "vibration", 500.0, "shared", technique="auto")
    assert [(tree.group_by, tree.windows.rows) for tree in plan.trees] == [
        ((), False),
        (("machine",), False),
        (("machine",), True),
    ]


@pytest.mark.parametrize("keys", [1.0, 7.0, 60.0, 4000.0])
def test_cascade_is_never_dearer_whatever_the_keys(catalog: Catalog, keys: float) -> None:
    costs = {s: plan_stream(catalog, "vibration", 500.0, s, "two_stacks_block", keys).cost for s in STRATEGIES}
    assert costs["cascade"] == pytest.approx(min(costs.values()), rel=1e-9)


def test_a_tree_reads_partials_only_while_they_are_fewer_than_events(catalog: Catalog) -> None:
    for keys in (7.0, 4000.0):
        plan = plan_stream(catalog, "vibration", 500.0, "tri_weave", "two_stacks_block", keys)
        fed = [tree for tree in plan.trees if tree.feed != EVENTS]
        assert bool(fed) == (keys == 7.0)
        for tree in fed:
            partials = float(plan.tree(tree.feed).edge_rate) * 1_000_000 * keys
            assert partials < 500.0


def test_measures_are_shared_between_aggregates(catalog: Catalog) -> None:
    plan = plan_stream(catalog, "vibration", 500.0, "shared", technique="auto")
    measures = plan.trees[1].measures
    assert Measure("count", ("x",)) in measures  # of avg and count
    assert Measure("max", ("x",), "label = 'good'") in measures
    assert len(measures) == 4
    count = next(demand for demand in plan.trees[1].demands if demand.measure == Measure("count", ("x",)))
    assert len(count.windows) == 2


def test_auto_only_picks_what_the_algebra_allows(catalog: Catalog) -> None:
    for strategy in ("weave_share", "cascade"):
        for tree in plan_stream(catalog, "vibration", 500.0, strategy, technique="auto").trees:
            assert all(allowed(technique, m.component) for m, technique in tree.techniques.items())


def test_auto_is_never_dearer_than_a_technique_for_all(catalog: Catalog) -> None:
    auto = plan_stream(catalog, "vibration", 500.0, "exhaustive", technique="auto").cost
    for technique in ("panes", "flat_fat", "flat_fit", "daba", "two_stacks_block"):
        assert auto <= plan_stream(catalog, "vibration", 500.0, "exhaustive", technique).cost * (1 + 1e-12)


def test_an_illegal_technique_is_refused(catalog: Catalog) -> None:
    with pytest.raises(HeddleError, match="slick_deque_inv needs a component that is invertible"):
        plan_stream(catalog, "vibration", 500.0, "weave_share", "slick_deque_inv")
    with pytest.raises(HeddleError, match="no such stream"):
        plan_stream(catalog, "vibrations", 500.0, strategy="weave_share", technique="auto")


def test_the_order_of_the_catalog_does_not_matter(tmp_path: Path) -> None:
    lines = [line for line in QUERIES.splitlines() if line]
    plans = [
        plan_stream(
            catalog_of(tmp_path / name, "\n".join(order)), "vibration", 500.0, "cascade", keys=3.0, technique="auto"
        )
        for name, order in (("a", lines), ("b", lines[::-1]))
    ]
    assert plans[0] == plans[1]


def test_costs_are_per_second(tmp_path: Path) -> None:
    """Events a second against edges a microsecond: the same plan as in ticks of a second."""
    queries = """
  - {id: a, stream: vibration, select: max(x), range: 16 seconds, slide: 4 seconds}
  - {id: b, stream: vibration, select: max(x), range: 10 seconds, slide: 5 seconds}
  - {id: c, stream: vibration, select: max(x), range: 8 seconds, slide: 4 seconds}
"""
    plan = plan_stream(catalog_of(tmp_path, queries), "vibration", 1.2, "weave_share", "panes")
    ticks = optimize([Window(16, 4), Window(10, 5), Window(8, 4)], 1.2, "weave_share", "panes")
    assert plan.cost == pytest.approx(ticks.cost)
    assert plan.baselines == pytest.approx(ticks.baselines)


def test_keys_multiply_final_work(tmp_path: Path) -> None:
    grouped = catalog_of(
        tmp_path,
        "  - {id: a, stream: vibration, select: max(x), group_by: [m], range: 8 seconds, slide: 4 seconds}\n",
    )
    one, many = (plan_stream(grouped, "vibration", 10.0, "no_share", "flat_fit", keys=k).cost for k in (1.0, 50.0))
    assert one == pytest.approx(10 + 0.25 * 3)
    assert many == pytest.approx(10 + 50 * 0.25 * 3)
