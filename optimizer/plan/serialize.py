"""Plans as JSON: written, read back, and reduced to the content that a fingerprint covers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from optimizer.errors import HeddleError
from optimizer.plan.definition import Builds, Costs, Demand, Measure, Plan, Shards, Traffic, Tree
from optimizer.windows.window import PAIRS, Ids, WindowSet

FORMAT = 1


def plan_to_dict(plan: Plan) -> dict[str, Any]:
    """Return the plan as JSON takes it."""
    return {
        "format": FORMAT,
        "stream": plan.stream,
        "strategy": plan.strategy,
        "traffic": vars(plan.traffic),
        "costs": vars(plan.costs),
        "catalog_fingerprint": plan.catalog_fingerprint,
        "unshared": list(plan.unshared),
        "exact": plan.exact,
        "builds": vars(plan.builds),
        "reasons": plan.reasons,
        "trees": [_tree_to_dict(tree) for tree in plan.trees],
    }


def plan_from_text(text: str) -> Plan:
    """Return the plan a text holds, or one line that says why it holds none."""
    try:
        fields = json.loads(text)
        if fields["format"] != FORMAT:
            raise HeddleError(f"plan format {fields['format']} is not {FORMAT}; run heddle plan again")
        return Plan(
            _text(fields["stream"]),
            _text(fields["strategy"]),
            _traffic(fields["traffic"]),
            tuple(_tree_from_dict(tree) for tree in fields["trees"]),
            Costs(**fields["costs"]),
            fields["catalog_fingerprint"],
            tuple(fields["unshared"]),
            fields["exact"],
            _builds(fields.get("builds", {})),
            dict(fields.get("reasons", {})),
        )
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, ZeroDivisionError) as error:
        raise HeddleError(f"this is not a plan ({error}); write one with heddle plan --out FILE") from error


def content(plan: Plan) -> dict[str, Any]:
    """Return what a plan does, in one order. In-memory queries have no ids of their own, only windows."""
    trees = {tree.id: tree for tree in plan.trees}

    def parts_of(tree: Tree) -> list[Any]:
        queries = sorted(map(str, tree.queries)) if plan.stream else len(tree.queries)
        feed = parts_of(trees[tree.feed]) if tree.feed in trees else tree.feed
        demands = sorted(
            [str(demand.measure), demand.technique, sorted(demand.windows.tuples())] for demand in tree.demands
        )
        parts = [queries, sorted(tree.windows.tuples()), tree.windows.rows, demands, list(tree.group_by), feed]
        parts += ["shards"] if tree.sharded else []
        return parts + ([tree.slicing] if tree.slicing != PAIRS else [])

    return {
        "stream": plan.stream,
        "catalog": plan.catalog_fingerprint,
        "unshared": sorted(plan.unshared),
        "trees": sorted(json.dumps(parts_of(tree)) for tree in plan.trees),
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
        "asked": list(tree.queries_per_window),
        "slicing": tree.slicing,
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


def _builds(fields: dict[str, Any]) -> Builds:
    groups = fields.get("groups", ())
    return Builds(
        fields.get("strategy", ""),
        tuple((_text(name), tuple((int(n), float(cost)) for n, cost in builds), int(k)) for name, builds, k in groups),
    )


def _traffic(fields: dict[str, Any]) -> Traffic:
    groups = tuple((tuple(group_by), keys) for group_by, keys in fields.get("groups", ()))
    curves = tuple((tuple(group_by), tuple(map(tuple, curve))) for group_by, curve in fields.get("curves", ()))
    shares = tuple((where, share) for where, share in fields.get("shares", ()))
    return Traffic(**{**fields, "groups": groups, "curves": curves, "shares": shares})


def _tree_from_dict(fields: dict[str, Any]) -> Tree:
    windows = _windows(fields["windows"], fields["rows"])
    return Tree(
        fields["id"],
        _queries(fields["queries"]),
        windows,
        Fraction(fields["edge_rate"]),
        tuple(_demand_from_dict(demand, windows) for demand in fields["demands"]),
        fields["feed"],
        tuple(fields["group_by"]),
        fields["cost"],
        Shards(**fields["shards"]) if fields.get("shards") else None,
        tuple(fields.get("asked", ())),
        fields.get("slicing", PAIRS),
    )


def _demand_from_dict(fields: dict[str, Any], windows: WindowSet) -> Demand:
    measure = Measure(fields["component"], tuple(fields["arguments"]), fields["where"])
    asking = windows if fields["windows"] == "all" else _windows(fields["windows"], windows.rows)
    return Demand(measure, fields["technique"], asking)


def _windows(tuples: list[list[int]], rows: bool) -> WindowSet:
    table = np.array(tuples, dtype=np.int64).reshape(-1, 3)
    return WindowSet(table[:, 0], table[:, 1], table[:, 2], rows)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} where a name should be")
    return value


def _queries(ids: list[Any]) -> Sequence[str | int]:
    return Ids(np.array(ids, dtype=np.int64)) if ids and isinstance(ids[0], int) else tuple(ids)
