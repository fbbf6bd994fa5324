"""What a plan costs, from the plan alone: every tree's feed, and its finals for every measure and key."""

from __future__ import annotations

from optimizer.cost.load import Load
from optimizer.cost.models import TreeCost, cascade
from optimizer.cost.omega import omega
from optimizer.plan.definition import Demand, Plan, Traffic, Tree


def plan_cost(plan: Plan) -> float:
    """Operations per second of all trees."""
    trees = {tree.id: tree for tree in plan.trees}
    return sum(tree_cost(tree, trees.get(tree.feed), plan.traffic) for tree in plan.trees)


def tree_cost(tree: Tree, feeder: Tree | None, traffic: Traffic) -> float:
    """Operations per second of one tree; WeaveShare and TriWeave are cascades of one and two levels."""
    rows = tree.windows.rows
    keys = traffic.keys_of(tree.group_by, rows)
    priced = [TreeCost(tree.edge_rate, _omegas(tree), keys)]
    if feeder is not None:
        priced.append(TreeCost(feeder.edge_rate, {}, keys))
    source = cascade.RAW if feeder is None else 1
    if feeder is not None and feeder.group_by != tree.group_by:
        fed = _rolled_up(tree, feeder, traffic) / traffic.ticks_per_second(rows)
    elif feeder is not None and feeder.sharded:
        fed = 0.0  # the shards that it folds are counted in its feeder's k * beta
    elif tree.shards is not None:
        fed = min(tree.shards.together, tree.shards.separately) / traffic.ticks_per_second(rows)
    else:
        fed = cascade.feed(traffic.events_per_tick(rows), priced, 0, source)
    return (fed + priced[0].finals) * traffic.ticks_per_second(rows)


def _rolled_up(tree: Tree, feeder: Tree, traffic: Traffic) -> float:
    """Operations per second to fold the partials of a finer grouping: of every key and slice, or of every shard."""
    held = {(measure.component, measure.arguments) for measure in tree.measures} if feeder.sharded else tree.measures
    if feeder.sharded and feeder.shards:
        partials = feeder.shards.shards
        expanded = tree.shards.shards * tree.shards.beta * tree.shards.measures if tree.sharded and tree.shards else 0.0
        return partials * len(held) + expanded
    partials = float(feeder.edge_rate) * traffic.keys_of(feeder.group_by, rows=False) * traffic.ticks_per_second(False)
    return partials * len(held)


def _omegas(tree: Tree) -> dict[str, float]:
    return {str(demand.measure): omega_of(demand, float(tree.edge_rate)) for demand in tree.demands}


def omega_of(demand: Demand, rate: float) -> float:
    """Operations per edge of one measure of a tree."""
    if not demand.technique:
        return 0.0
    return omega(demand.technique, Load.of_columns(demand.windows.range, demand.windows.slide), rate)
