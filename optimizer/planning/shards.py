"""Shards or separate evaluation, tree by tree: |T| + k * beta against alpha * |T|, measured on recent events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from optimizer.plan.cost import tree_cost
from optimizer.plan.definition import EVENTS, Measure, Shards, Traffic, Tree
from optimizer.planning.recent import Passing, Recent


def with_shards(trees: Sequence[Tree], recent: Recent, traffic: Traffic) -> list[Tree]:
    """The same trees, those that evaluate predicates on raw events with the cheaper way to do so."""
    found = {tree.id: measured(tree, trees, recent, traffic) for tree in trees}
    return [replace(tree, cost=tree_cost(tree, found.get(tree.feed), traffic)) for tree in found.values()]


def measured(tree: Tree, trees: Iterable[Tree], recent: Recent, traffic: Traffic) -> Tree:
    """A tree with what recent events say of its predicates, if it evaluates any; the trees that it feeds are among
    `trees`. Each of them folds the shards straight into its own slices."""
    if tree.feed != EVENTS or tree.windows.rows or not any(measure.where for measure in tree.measures):
        return tree
    fed = (each for each in trees if each.feed == tree.id and each.group_by == tree.group_by)
    asked = [*tree.techniques, *(measure for each in fed for measure in each.measures)]
    found = recent.passing(tree, sorted({measure.where for measure in tree.measures}))
    return replace(tree, shards=_shards(tree.measures, asked, found, traffic.rate))


def _shards(measures: Sequence[Measure], asked: Sequence[Measure], found: Passing, rate: float) -> Shards:
    held = len({(measure.component, measure.arguments) for measure in measures})
    taken = sum(found.events_of[measure.where] for measure in measures)
    folded = sum(found.shards_of[measure.where] for measure in asked)
    return Shards(
        len({measure.where for measure in measures} - {""}),
        held,
        found.events * rate,
        _mean(taken, held * found.events),
        found.shards * rate,
        _mean(folded, held * found.shards),
    )


def _mean(total: float, count: float) -> float:
    return total / count if count else 0.0
