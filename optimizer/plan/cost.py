"""What a plan costs, from the plan alone: every tree's feed, and its finals for every measure and key."""

from __future__ import annotations

from optimizer.cost.omega import Load, omega
from optimizer.cost.tree_cost import feed, finals, partials
from optimizer.plan.definition import Demand, Plan, Traffic, Tree


def plan_cost(plan: Plan) -> float:
    """Return the operations per second of all trees."""
    trees = {tree.id: tree for tree in plan.trees}
    return sum(tree_cost(tree, trees.get(tree.feed), plan.traffic) for tree in plan.trees)


def tree_cost(tree: Tree, feeder: Tree | None, traffic: Traffic) -> float:
    """Return the operations per second of one tree; `feeder` is the tree whose partials it reads, if any."""
    rows = tree.windows.rows
    closed = partials(tree.edge_rate, traffic.keys_of(tree.group_by, rows))
    omegas = sum(omega_of(demand, float(tree.edge_rate)) for demand in tree.demands)
    return (_feed(tree, feeder, traffic) + finals(closed, omegas)) * traffic.ticks_per_second(rows)


def _feed(tree: Tree, feeder: Tree | None, traffic: Traffic) -> float:
    """Return what a tree pays per tick for its input."""
    rows = tree.windows.rows
    if feeder is not None and feeder.group_by != tree.group_by:
        return _roll_up_feed(tree, feeder, traffic) / traffic.ticks_per_second(rows)
    if feeder is not None and feeder.sharded:
        return 0.0  # the shards that it folds are counted in its feeder's k * beta
    if tree.shards is not None:
        return min(tree.shards.together, tree.shards.separately) / traffic.ticks_per_second(rows)
    if feeder is not None:
        return feed(partials(feeder.edge_rate, traffic.keys_of(tree.group_by, rows)), len(tree.demands))
    return feed(traffic.events_per_tick(rows), len(tree.demands))


def _roll_up_feed(tree: Tree, feeder: Tree, traffic: Traffic) -> float:
    """Return the operations per second to fold a finer grouping's partials: of every key and slice, or every shard."""
    if feeder.sharded and feeder.shards:
        columns = {(measure.component, measure.arguments) for measure in tree.measures}
        expanded = tree.shards.shards * tree.shards.beta * tree.shards.measures if tree.sharded and tree.shards else 0.0
        return feed(feeder.shards.shards, len(columns)) + expanded
    closed = partials(feeder.edge_rate, traffic.keys_of(feeder.group_by, rows=False)) * traffic.ticks_per_second(False)
    return feed(closed, len(tree.measures))


def omega_of(demand: Demand, rate: float) -> float:
    """Return the operations per edge of one measure of a tree; none where the tree only passes it on."""
    if not demand.technique:
        return 0.0
    return omega(demand.technique, Load.of_columns(demand.windows.range, demand.windows.slide), rate)
