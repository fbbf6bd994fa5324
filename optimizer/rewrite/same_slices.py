"""Trees that would only copy the slices that feed them are joined with their feeders.

The engine keeps them apart for their kernels; SQL has no use for a second copy.
"""

from __future__ import annotations

from dataclasses import replace

from optimizer.plan.definition import EVENTS, Plan, Tree


def without_copies(plan: Plan) -> Plan:
    """The plan with the queries of such trees answered by the trees that feed them."""
    stands_for = {tree.id: _original(plan, tree).id for tree in plan.trees}
    kept = [tree for tree in plan.trees if stands_for[tree.id] == tree.id]
    queries = {
        tree.id: tuple(query for copy in plan.trees if stands_for[copy.id] == tree.id for query in copy.queries)
        for tree in kept
    }
    trees = (replace(tree, queries=queries[tree.id], feed=stands_for.get(tree.feed, EVENTS)) for tree in kept)
    return replace(plan, trees=tuple(trees))


def _original(plan: Plan, tree: Tree) -> Tree:
    """The tree itself, or the first one up its feeds that has the same slices."""
    while tree.feed != EVENTS:
        feeder = plan.tree(tree.feed)
        if (feeder.group_by, feeder.edges()) != (tree.group_by, tree.edges()):
            break
        tree = feeder
    return tree
