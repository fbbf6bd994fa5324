"""A plan for a catalog that has changed by a few queries: they join and leave, the rest stays where it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Query
from optimizer.plan.definition import EVENTS, Plan, Traffic, Tree
from optimizer.plan.measures import measures_of
from optimizer.planning.incremental import STRATEGY, Member, RunningPlan
from optimizer.planning.names import AUTO
from optimizer.planning.recent import Recent
from optimizer.planning.stream import measured_keys, plan_stream
from optimizer.planning.windows import plan_drafts

GroupKey = tuple[tuple[str, ...], bool, str]  # group-by columns, whether windows are in rows, and of which rows


def reweave(plan: Plan, catalog: Catalog, recent: Recent | None = None) -> Plan:
    """The plan, changed to answer the catalog by Incremental WeaveShare.

    Trees that feed trees cannot be changed query by query: such a plan is searched anew by its own strategy. Recent
    events tell the keys, unless those were given.
    """
    technique = technique_of(plan)
    if any(tree.feed != EVENTS for tree in plan.trees):
        keys = 1.0 if recent and not _has_fixed_keys(plan) else plan.keys
        changed = plan_stream(catalog, plan.stream, plan.rate, plan.strategy, technique, keys, recent=recent)
        return replace(changed, traffic=replace(changed.traffic, keys=plan.keys))
    queries = {query.id: query for query in catalog.of_stream(plan.stream)}
    woven = {id: query for id, query in queries.items() if AGGREGATES[query.aggregate].shared}
    traffic = _traffic(plan, woven.values(), recent)
    running = _running(plan, woven, technique, traffic)
    placed = {str(query) for tree in plan.trees for query in tree.queries}
    for id in sorted(woven.keys() - placed):
        group = running.setdefault(_key(woven[id]), RunningPlan(traffic, technique, woven[id].group_by))
        group.add(id, woven[id].window, tuple(measures_of(woven[id])))
    drafts = [group.draft() for _, group in sorted(running.items()) if group.members]
    changed = plan_drafts(plan.stream, STRATEGY, drafts, technique, traffic, recent)
    unshared = tuple(sorted(queries.keys() - woven.keys()))
    return replace(changed, catalog_fingerprint=catalog.fingerprint(plan.stream), unshared=unshared)


def technique_of(plan: Plan) -> str:
    """The technique of all trees, or auto when they have several."""
    names = {demand.technique for tree in plan.trees for demand in tree.demands if demand.technique}
    return names.pop() if len(names) == 1 else AUTO


def _has_fixed_keys(plan: Plan) -> bool:
    """Whether a number of keys was given for all groupings, rather than counted for each."""
    return not plan.traffic.groups and plan.keys != 1.0 and any(tree.group_by for tree in plan.trees)


def _traffic(plan: Plan, queries: Iterable[Query], recent: Recent | None) -> Traffic:
    """The plan's traffic, with the keys of every grouping there is now."""
    if recent is None or _has_fixed_keys(plan):
        return plan.traffic
    slides = [(query.group_by, query.window.slide) for query in queries if not query.window.rows]
    return replace(plan.traffic, groups=measured_keys(slides, recent))


def _running(plan: Plan, woven: dict[str, Query], technique: str, traffic: Traffic) -> dict[GroupKey, RunningPlan]:
    """The plan's trees as running plans, without the queries that are gone or ask something else now."""
    running: dict[GroupKey, RunningPlan] = {}
    for tree in plan.trees:
        key = _key_of(tree)
        ids = [str(id) for id in tree.queries if str(id) in woven and _key(woven[str(id)]) == key]
        if not ids:
            continue
        group = running.setdefault(key, RunningPlan(traffic, technique, tree.group_by))
        group.adopt_tree({id: Member(woven[id].window, tuple(measures_of(woven[id]))) for id in ids})
    return running


def _key(query: Query) -> GroupKey:
    return query.group_by, query.window.rows, query.where if query.window.rows else ""


def _key_of(tree: Tree) -> GroupKey:
    return tree.group_by, tree.windows.rows, tree.measures[0].where if tree.windows.rows else ""
