"""Plans whose predicates are evaluated in shards, or not, whatever the estimate says."""

from __future__ import annotations

from dataclasses import replace

from optimizer.plan import EVENTS, Plan, Shards, Tree

CHEAP, DEAR = 0.1, 10.0  # shards per event


def forced(plan: Plan, shards: bool = True) -> Plan:
    """The plan, with shards wherever there are predicates; or nowhere."""
    return replace(plan, trees=tuple(_forced(tree, CHEAP if shards else DEAR) for tree in plan.trees))


def _forced(tree: Tree, per_event: float) -> Tree:
    wheres = {measure.where for measure in tree.measures} - {""}
    if tree.feed != EVENTS or not wheres:
        return tree
    return replace(tree, shards=Shards(len(wheres), 1, 1.0, 2.0, per_event, 1.0))
