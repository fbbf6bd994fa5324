"""Shards or separate evaluation, tree by tree: |T| + k * beta against alpha * |T|, measured on recent events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from optimizer.plan import EVENTS, Measure, Shards, Traffic, Tree
from optimizer.plan_cost import tree_cost


@dataclass(frozen=True)
class Passing:
    """Per recent event: those that pass any of some predicates, the shards they make, and both by predicate."""

    events: float
    shards: float
    events_of: dict[str, float]
    shards_of: dict[str, float]


class Recent(Protocol):
    """Events that came lately, asked by the planner."""

    def keys(self, group_by: tuple[str, ...], slide: int) -> float:
        """How many groups are active in a slice of this length, on average."""

    def share(self, where: str) -> float:
        """The share of events that pass a predicate; all pass ""."""

    def passing(self, tree: Tree, wheres: Sequence[str]) -> Passing:
        """How the events that pass the predicates ("" passes all) fall into the tree's slices."""


def with_shards(trees: Sequence[Tree], recent: Recent, traffic: Traffic) -> list[Tree]:
    """The same trees, those that evaluate predicates on raw events with the cheaper way to do so."""
    return [_with_shards(tree, recent, traffic) if _has_choice(tree) else tree for tree in trees]


def _has_choice(tree: Tree) -> bool:
    return tree.feed == EVENTS and not tree.windows.rows and any(measure.where for measure in tree.measures)


def _with_shards(tree: Tree, recent: Recent, traffic: Traffic) -> Tree:
    wheres = sorted({measure.where for measure in tree.measures})
    found = recent.passing(tree, wheres)
    measured = replace(tree, shards=_shards(tree.measures, found, traffic.rate))
    return replace(measured, cost=tree_cost(measured, None, traffic))


def _shards(measures: Sequence[Measure], found: Passing, rate: float) -> Shards:
    held = len({(measure.component, measure.arguments) for measure in measures})
    taken = sum(found.events_of[measure.where] for measure in measures)
    folded = sum(found.shards_of[measure.where] for measure in measures)
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
