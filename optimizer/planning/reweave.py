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
from optimizer.planning.stream import count_keys, plan_stream
from optimizer.planning.windows import plan_drafts

GroupKey = tuple[tuple[str, ...], bool, str]  # group-by columns, whether windows are in rows, and of which rows


def reweave(plan: Plan, catalog: Catalog, recent: Recent | None = None) -> Plan:
    """Change a plan so that it answers the catalog, by Incremental WeaveShare.

    Trees that feed trees cannot be changed query by query: such a plan is searched anew by its own strategy. Recent
    events tell the keys, unless the user set them.

    >>> from optimizer.catalog.model.query import Stream
    >>> from optimizer.catalog.model.table import Shape, TableBuilder
    >>> from optimizer.windows.window import Window
    >>> def catalog_of(**slides):
    ...     queries = TableBuilder()
    ...     for name, seconds in slides.items():
    ...         window = Window(6 * seconds * 10**6, seconds * 10**6)
    ...         queries.add(name, name, Shape("s", "max", ("x",), "", (), name), window)
    ...     return Catalog({"s": Stream("s", "ts", 0)}, queries.table(), {})
    >>> plan = plan_stream(catalog_of(a=10, b=20), "s", 1000.0, "weave_share")
    >>> [tree.queries for tree in reweave(plan, catalog_of(b=20, c=40)).trees]  # a left, c joined
    [('b', 'c')]
    """
    technique = technique_of(plan)
    if any(tree.feed != EVENTS for tree in plan.trees):
        keys = 1.0 if recent and not _has_fixed_keys(plan) else plan.keys
        replanned = plan_stream(catalog, plan.stream, plan.rate, plan.strategy, technique, keys, recent=recent)
        return replace(replanned, traffic=replace(replanned.traffic, keys=plan.keys))
    queries = {query.id: query for query in catalog.of_stream(plan.stream)}
    woven = {id: query for id, query in queries.items() if AGGREGATES[query.aggregate].shared}
    traffic = _traffic(plan, woven.values(), recent)
    running = _running_plans(plan, woven, technique, traffic)
    placed = {str(query) for tree in plan.trees for query in tree.queries}
    for id in sorted(woven.keys() - placed):
        group = running.setdefault(_query_key(woven[id]), RunningPlan(traffic, technique, woven[id].group_by))
        group.add(id, woven[id].window, tuple(measures_of(woven[id])))
    drafts = [group.draft() for _, group in sorted(running.items()) if group.members]
    rewoven = plan_drafts(plan.stream, STRATEGY, drafts, technique, traffic, recent)
    unshared = tuple(sorted(queries.keys() - woven.keys()))
    return replace(rewoven, catalog_fingerprint=catalog.fingerprint(plan.stream), unshared=unshared)


def technique_of(plan: Plan) -> str:
    """Return the technique of all trees, or auto when they have several.

    >>> from optimizer.planning.windows import optimize
    >>> from optimizer.windows.window import Window
    >>> technique_of(optimize([Window(16, 4), Window(10, 5)], 1.2, technique="daba"))
    'daba'
    """
    names = {demand.technique for tree in plan.trees for demand in tree.demands if demand.technique}
    return names.pop() if len(names) == 1 else AUTO


def _has_fixed_keys(plan: Plan) -> bool:
    """Say whether the user set one number of keys for all groupings, rather than having each grouping counted."""
    return not plan.traffic.groups and plan.keys != 1.0 and any(tree.group_by for tree in plan.trees)


def _traffic(plan: Plan, queries: Iterable[Query], recent: Recent | None) -> Traffic:
    """Return the plan's traffic, with the keys of every grouping that there is now."""
    if recent is None or _has_fixed_keys(plan):
        return plan.traffic
    slides = [(query.group_by, query.window.slide) for query in queries if not query.window.rows]
    return replace(plan.traffic, groups=count_keys(slides, recent))


def _running_plans(
    plan: Plan, woven: dict[str, Query], technique: str, traffic: Traffic
) -> dict[GroupKey, RunningPlan]:
    """Return the plan's trees as running plans, without the queries that are gone or ask something else now."""
    running: dict[GroupKey, RunningPlan] = {}
    for tree in plan.trees:
        key = _tree_key(tree)
        ids = [str(id) for id in tree.queries if str(id) in woven and _query_key(woven[str(id)]) == key]
        if not ids:
            continue
        group = running.setdefault(key, RunningPlan(traffic, technique, tree.group_by))
        group.adopt_tree({id: Member(woven[id].window, tuple(measures_of(woven[id]))) for id in ids})
    return running


def _query_key(query: Query) -> GroupKey:
    return query.group_by, query.window.rows, query.where if query.window.rows else ""


def _tree_key(tree: Tree) -> GroupKey:
    return tree.group_by, tree.windows.rows, tree.measures[0].where if tree.windows.rows else ""
