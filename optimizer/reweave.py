"""A plan for a catalog that has changed by a few queries: they join and leave, the rest stays where it is."""

from __future__ import annotations

from dataclasses import replace

from optimizer.catalog.aggregates import AGGREGATES
from optimizer.catalog.catalog import Catalog
from optimizer.catalog.query import Query
from optimizer.choosing import AUTO
from optimizer.plan import EVENTS, Plan
from optimizer.planning import plan_drafts
from optimizer.running import STRATEGY, Member, RunningPlan
from optimizer.stream_planning import measures_of, plan_stream

GroupKey = tuple[tuple[str, ...], bool]  # group-by columns, and whether windows are in rows


def reweave(plan: Plan, catalog: Catalog) -> Plan:
    """The plan, changed to answer the catalog by Incremental WeaveShare.

    Trees that feed trees cannot be changed query by query: such a plan is searched anew by its own strategy.
    """
    technique = technique_of(plan)
    if any(tree.feed != EVENTS for tree in plan.trees):
        return plan_stream(catalog, plan.stream, plan.rate, plan.strategy, technique, plan.keys)
    queries = {query.id: query for query in catalog.of_stream(plan.stream)}
    woven = {id: query for id, query in queries.items() if AGGREGATES[query.aggregate].shared}
    running = _running(plan, woven, technique)
    placed = {str(query) for tree in plan.trees for query in tree.queries}
    for id in sorted(woven.keys() - placed):
        group = running.setdefault(_key(woven[id]), RunningPlan(plan.traffic, technique, woven[id].group_by))
        group.add(id, woven[id].window, tuple(measures_of(woven[id])))
    drafts = [group.draft() for _, group in sorted(running.items()) if group.members]
    found = plan_drafts(plan.stream, STRATEGY, drafts, technique, plan.traffic)
    unshared = tuple(sorted(queries.keys() - woven.keys()))
    return replace(found, catalog_fingerprint=catalog.fingerprint(plan.stream), unshared=unshared)


def technique_of(plan: Plan) -> str:
    """The technique of all trees, or auto when they have several."""
    names = {demand.technique for tree in plan.trees for demand in tree.demands if demand.technique}
    return names.pop() if len(names) == 1 else AUTO


def _running(plan: Plan, woven: dict[str, Query], technique: str) -> dict[GroupKey, RunningPlan]:
    """The plan's trees as running plans, without the queries that are gone or ask something else now."""
    found: dict[GroupKey, RunningPlan] = {}
    for tree in plan.trees:
        key = (tree.group_by, tree.windows.rows)
        ids = [str(id) for id in tree.queries if str(id) in woven and _key(woven[str(id)]) == key]
        if not ids:
            continue
        group = found.setdefault(key, RunningPlan(plan.traffic, technique, tree.group_by))
        group.members |= {id: Member(woven[id].window, tuple(measures_of(woven[id]))) for id in ids}
        group.trees.append(ids)
    return found


def _key(query: Query) -> GroupKey:
    return query.group_by, query.window.rows
