"""Plans as JSON: written, read back, and reduced to the content that a fingerprint covers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from optimizer.errors import HeddleError
from optimizer.plan.definition import Costs, Demand, Measure, Plan, Shards, Traffic, Tree
from optimizer.windows.columns import Ids, WindowSet

FORMAT = 1


def plan_to_dict(plan: Plan) -> dict[str, Any]:
    """The plan as JSON takes it."""
    return {
        "format": FORMAT,
        "stream": plan.stream,
        "strategy": plan.strategy,
        "traffic": vars(plan.traffic),
        "costs": vars(plan.costs),
        "catalog_fingerprint": plan.catalog_fingerprint,
        "unshared": list(plan.unshared),
        "exact": plan.exact,
        "trees": [_tree_to_dict(tree) for tree in plan.trees],
    }


def plan_from_text(text: str) -> Plan:
    """The plan a text holds, or one line that says why it holds none."""
    try:
        found = json.loads(text)
        if found["format"] != FORMAT:
            raise HeddleError(f"plan format {found['format']} is not {FORMAT}; run heddle plan again")
        return Plan(
            _text(found["stream"]),
            _text(found["strategy"]),
            _traffic(found["traffic"]),
            tuple(_tree_from_dict(tree) for tree in found["trees"]),
            Costs(**found["costs"]),
            found["catalog_fingerprint"],
            tuple(found["unshared"]),
            found["exact"],
        )
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, ZeroDivisionError) as error:
        raise HeddleError(f"this is not a plan ({error}); write one with heddle plan --out FILE") from error


def content(plan: Plan) -> dict[str, Any]:
    """What a plan does, in one order. In-memory queries have no ids of their own, only windows."""
    trees = {tree.id: tree for tree in plan.trees}

    def of(tree: Tree) -> list[Any]:
        queries = sorted(map(str, tree.queries)) if plan.stream else len(tree.queries)
        feed = of(trees[tree.feed]) if tree.feed in trees else tree.feed
        demands = sorted(
            [str(demand.measure), demand.technique, sorted(demand.windows.tuples())] for demand in tree.demands
        )
        done = [queries, sorted(tree.windows.tuples()), tree.windows.rows, demands, list(tree.group_by), feed]
        return [*done, "shards"] if tree.sharded else done

    return {
        "stream": plan.stream,
        "catalog": plan.catalog_fingerprint,
        "unshared": sorted(plan.unshared),
        "trees": sorted(json.dumps(of(tree)) for tree in plan.trees),
    }


def _tree_to_dict(tree: Tree) -> dict[str, Any]:
    return {
        "id": tree.id,
        "queries": list(tree.queries),
        "rows": tree.windows.rows,
        "windows": tree.windows.tuples(),
        "edge_rate": str(tree.edge_rate),
        "demands": [_demand_to_dict(demand, tree.windows) for demand in tree.demands],
        "feed": tree.feed,
        "group_by": list(tree.group_by),
        "cost": tree.cost,
        "shards": vars(tree.shards) if tree.shards else None,
        "technique": tree.technique,  # for readers; read back from the demands
    }


def _demand_to_dict(demand: Demand, windows: WindowSet) -> dict[str, Any]:
    everything = demand.windows == windows
    return {
        "component": demand.measure.component,
        "arguments": list(demand.measure.arguments),
        "where": demand.measure.where,
        "technique": demand.technique,
        "windows": "all" if everything else demand.windows.tuples(),
    }


def _traffic(found: dict[str, Any]) -> Traffic:
    groups = tuple((tuple(group_by), keys) for group_by, keys in found.get("groups", ()))
    return Traffic(**{**found, "groups": groups})


def _tree_from_dict(found: dict[str, Any]) -> Tree:
    windows = _windows(found["windows"], found["rows"])
    return Tree(
        found["id"],
        _queries(found["queries"]),
        windows,
        Fraction(found["edge_rate"]),
        tuple(_demand_from_dict(demand, windows) for demand in found["demands"]),
        found["feed"],
        tuple(found["group_by"]),
        found["cost"],
        Shards(**found["shards"]) if found.get("shards") else None,
    )


def _demand_from_dict(found: dict[str, Any], windows: WindowSet) -> Demand:
    measure = Measure(found["component"], tuple(found["arguments"]), found["where"])
    asked = windows if found["windows"] == "all" else _windows(found["windows"], windows.rows)
    return Demand(measure, found["technique"], asked)


def _windows(tuples: list[list[int]], rows: bool) -> WindowSet:
    table = np.array(tuples, dtype=np.int64).reshape(-1, 3)
    return WindowSet(table[:, 0], table[:, 1], table[:, 2], rows)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} where a name should be")
    return value


def _queries(found: list[Any]) -> Sequence[str | int]:
    return Ids(np.array(found, dtype=np.int64)) if found and isinstance(found[0], int) else tuple(found)
