"""One group of queries: searched by a strategy, and assembled into trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from optimizer.plan.definition import Measure, Traffic, Tree
from optimizer.planning.assemble import assemble
from optimizer.planning.group import Group
from optimizer.planning.names import techniques_for
from optimizer.planning.recent import Recent
from optimizer.planning.shards import with_shards
from optimizer.strategies.contract.card import Card
from optimizer.strategies.contract.draft import Draft
from optimizer.strategies.contract.pricing import CostModel
from optimizer.strategies.contract.problem import Problem
from optimizer.strategies.contract.watch import Watch
from optimizer.windows.columns import BoolArray


def cost_model(group: Group, technique: str, traffic: Traffic) -> CostModel:
    """The cost model of a group, per tick of its clock and per key."""
    return _model(group, group.rows.problem, technique, traffic)


def trees_of(group: Group, draft: Draft, technique: str, traffic: Traffic, recent: Recent | None = None) -> list[Tree]:
    """The trees of a draft; where recent events are known, with the cheaper way to evaluate predicates."""
    trees = assemble(group, draft, cost_model(group, technique, traffic), traffic)
    return with_shards(trees, recent, traffic) if recent else trees


def draft_group(
    group: Group, card: Card, technique: str, traffic: Traffic, watch: Watch, recent: Recent | None = None
) -> Draft:
    """The strategy's draft. With predicates and recent events, the better of two: as if each measure were fed by
    itself, and as if one feed served all predicates, as it does with shards."""
    problem = group.rows.problem
    separate = card.run(problem, cost_model(group, technique, traffic), watch)
    if recent is None or not any(measure.where for measure in problem.measures):
        return separate
    common = _without_predicates(problem)
    if len(common.measures) == len(problem.measures):  # no two predicates of one measure: the same search again
        return separate
    together = card.run(common, _model(group, common, technique, traffic), watch)

    def cost(draft: Draft) -> float:
        return sum(tree.cost for tree in trees_of(group, draft, technique, traffic, recent))

    return min(separate, together, key=cost)


def _model(group: Group, problem: Problem, technique: str, traffic: Traffic) -> CostModel:
    rows = group.rows.windows.rows
    techniques = techniques_for(technique, problem.measures)
    return CostModel(traffic.events_per_tick(rows) / traffic.keys_of(group.group_by, rows), techniques)


def _without_predicates(problem: Problem) -> Problem:
    """The same windows asking for the same measures of all events."""
    asking: dict[Measure, BoolArray | None] = {}
    for measure, windows in zip(problem.measures, problem.asking, strict=True):
        base = replace(measure, where="")
        before = asking.get(base, np.zeros(len(problem.windows), dtype=np.bool_))
        asking[base] = None if before is None or windows is None else before | windows
    return replace(problem, measures=tuple(asking), asking=tuple(asking.values()))
