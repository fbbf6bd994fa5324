"""Replan runs: what was planned, what it costs beside the other strategies, and whether it was promoted.

run = log_replan(store, Replan(catalog, plan, others, seconds, technique="auto", key=...))
version = register(store, plan, run)
conclude(store, run, plan, version, decision, promoted=True)
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from jobs.tracking.artifacts import as_page, as_parquet, cost_chart, log_trees, query_table, tree_table
from jobs.tracking.plan_model import describe_model
from jobs.tracking.registry import OPERATIONS, PLAN, SECONDS, Decision, Version
from jobs.tracking.store import Entry, Store, catalog_dataset
from optimizer.catalog.model.catalog import Catalog
from optimizer.plan.definition import Plan
from optimizer.plan.explain import saving_text
from optimizer.plan.picture import draw
from optimizer.plan.prices import Prices

KIND = "replan"
COSTS = "costs.json"  # what every plan would cost, as a table that MLflow shows


@dataclass(frozen=True)
class Replan:
    """A plan that was made, and the others it was chosen from: costs by the names of strategy and technique."""

    catalog: Catalog
    plan: Plan
    planning_seconds: float
    technique: str = "auto"  # as it was asked for
    costs: Mapping[str, float] = field(default_factory=dict)
    unit: str = OPERATIONS
    measured: Mapping[str, float] = field(default_factory=dict)  # of the stream: rate, keys, disorder
    key: str = ""
    operations: Mapping[str, float] = field(default_factory=dict)  # a second, of every plan
    prices: Prices | None = None  # that the plans were compared by


def log_replan(store: Store, replan: Replan) -> str:
    """Write a parent run with its children and artifacts, and leave it open for the decision."""
    plan = replan.plan
    run = store.begin(_entry(replan))
    store.inputs(run, [catalog_dataset(replan.catalog, plan.stream)])
    log_trees(store, run, plan)
    files: dict[str, str | bytes] = {
        PLAN: plan.to_json() + "\n",
        **describe_model(replan.prices),
        "plan/plan.txt": plan.explain() + "\n",
        "plan/plan.svg": picture(plan, replan.prices),
        "queries.parquet": as_parquet(query_table(replan.catalog, plan)),
        "trees.parquet": as_parquet(tree_table(plan)),
    }
    if replan.costs:
        files[COSTS] = as_page(cost_table(replan))
    if len(replan.costs) > 1:
        files["costs.svg"] = cost_chart(*_readable_costs(replan))
    store.files(run, files)
    return run


def conclude(store: Store, run: str, plan: Plan, version: Version | None, decision: Decision, promoted: bool) -> None:
    """Close a replan run with what became of its plan."""
    tags = {"promoted": str(promoted).lower(), "reason": decision.reason}
    if version:
        tags["version"] = str(version.number)
    for name, value in tags.items():
        store.client.set_tag(run, name, value)
    champion = decision.champion_cost
    if champion is not None and decision.unit == SECONDS:
        store.measure(run, {"CPU_ms_of_champion": champion / plan.rate * 1e6})
    elif champion is not None:
        store.measure(run, {"champion_cost": champion})
    store.end(run)


def picture(plan: Plan, prices: Prices | None) -> bytes:
    """Draw the plan as SVG."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "plan.svg")
        draw(plan, path, prices)
        return path.read_bytes()


def cost_table(replan: Replan) -> pa.Table:
    """Return a row per plan that was compared, the cheapest first: in CPU milliseconds where prices are known."""
    costs, unit = _readable_costs(replan)
    names = sorted(costs, key=lambda name: costs[name])
    by_unit = {unit: costs, OPERATIONS: replan.operations or replan.costs}
    columns = {unit: [float(f"{some[name]:.5g}") for name in names] for unit, some in by_unit.items()}
    return pa.table({"plan": names, **columns})


def _readable_costs(replan: Replan) -> tuple[Mapping[str, float], str]:
    """Return what every plan costs, and in which unit: the one that people read, where prices are known."""
    if replan.unit != SECONDS:
        return replan.costs, replan.unit
    return {name: cost / replan.plan.rate * 1e6 for name, cost in replan.costs.items()}, "CPU ms per 1,000 events"


def _entry(replan: Replan) -> Entry:
    plan, estimate = replan.plan, replan.plan.milliseconds_per_thousand
    queries = sum(len(tree.queries) for tree in plan.trees)
    params = {
        "strategy": plan.strategy,
        "technique": replan.technique,
        "lambda": plan.rate,
        "keys": plan.keys,
        "catalog_fingerprint": plan.catalog_fingerprint,
        "plan_fingerprint": plan.fingerprint(),
        "queries": queries,
        "unshared": len(plan.unshared),
        "exact": plan.exact,
    }
    metrics = {
        "estimated_cost": plan.cost,
        "no_share_cost": plan.costs.no_share,
        "shared_cost": plan.costs.shared,
        "saving": plan.saving,
        "trees": len(plan.trees),
        "queries": queries,
        "planning_seconds": replan.planning_seconds,
        **({} if estimate is None else {"CPU_ms_estimated": estimate}),
        **{f"stream.{name}": value for name, value in replan.measured.items()},
    }
    note = f"{queries} queries in {len(plan.trees)} trees, {saving_text(plan.saving)}"
    tags = {"mlflow.loggedArtifacts": json.dumps([{"path": COSTS, "type": "table"}])} if replan.costs else {}
    return Entry(plan.stream, KIND, f"replan {plan.strategy}", params, metrics, tags, key=replan.key, note=note)
