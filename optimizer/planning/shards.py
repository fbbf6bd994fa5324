"""Shards or separate evaluation, tree by tree: |T| + k * beta against alpha * |T|, measured on recent events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from optimizer.plan.cost import tree_cost
from optimizer.plan.definition import EVENTS, Measure, Shards, Traffic, Tree
from optimizer.planning.recent import Passing, Recent


def with_shards(trees: Sequence[Tree], recent: Recent, traffic: Traffic) -> list[Tree]:
    """The same trees, those that evaluate predicates on raw events with the cheaper way to do so."""
    tree_of = {tree.id: measured(tree, trees, recent, traffic) for tree in trees}
    return [replace(tree, cost=tree_cost(tree, tree_of.get(tree.feed), traffic)) for tree in tree_of.values()]


def measured(tree: Tree, trees: Iterable[Tree], recent: Recent, traffic: Traffic) -> Tree:
    """A tree with what recent events say of its predicates, if it evaluates any; the trees that it feeds are among
    `trees`. Each of them folds the shards straight into its own slices."""
    if tree.feed != EVENTS or tree.windows.rows or not any(measure.where for measure in tree.measures):
        return tree
    fed = (reader for reader in trees if reader.feed == tree.id and reader.group_by == tree.group_by)
    asking = [*tree.techniques, *(measure for reader in fed for measure in reader.measures)]
    passing = recent.passing(tree, sorted({measure.where for measure in tree.measures}))
    return replace(tree, shards=_shards(tree.measures, asking, passing, traffic.rate))


def _shards(measures: Sequence[Measure], asking: Sequence[Measure], passing: Passing, rate: float) -> Shards:
    components = len({(measure.component, measure.arguments) for measure in measures})
    events = sum(passing.events_of[measure.where] for measure in measures)
    shards = sum(passing.shards_of[measure.where] for measure in asking)
    return Shards(
        len({measure.where for measure in measures} - {""}),
        components,
        passing.events * rate,
        _mean(events, components * passing.events),
        passing.shards * rate,
        _mean(shards, components * passing.shards),
    )


def _mean(total: float, count: float) -> float:
    return total / count if count else 0.0
