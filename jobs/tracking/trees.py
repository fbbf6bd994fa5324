"""A child run per tree: the costliest ones, since a page that lists thousands is read by nobody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobs.tracking.store import Entry, Store
from optimizer.plan.definition import Plan, Tree

MOST = 50  # the rest is in trees.parquet


def log_trees(store: Store, parent: str, plan: Plan, measured: Mapping[str, Mapping[str, Any]] | None = None) -> None:
    """Children of a run, one per tree."""
    for tree in sorted(plan.trees, key=lambda tree: -tree.cost)[:MOST]:
        store.child(_entry(plan, tree, (measured or {}).get(tree.id, {})), parent)


def _entry(plan: Plan, tree: Tree, measured: Mapping[str, Any]) -> Entry:
    params = {
        "tree": tree.id,
        "technique": tree.technique,
        "feed": tree.feed,
        "group_by": ", ".join(tree.group_by),
        "edge_rate": str(tree.edge_rate),
    }
    metrics = {"estimated_cost": tree.cost, "queries": len(tree.queries), "windows": len(tree.windows)}
    counted = ("partials", "operations", "estimated_operations")
    metrics |= {name: measured[name] for name in counted if name in measured}
    return Entry(plan.stream, "tree", tree.id, params, metrics)
