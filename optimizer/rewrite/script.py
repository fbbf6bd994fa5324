"""The whole script: the clock, the sources, the shared views, then one statement for each of the user's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Column, Query, Statement
from optimizer.catalog.model.render import script_sql, window_call
from optimizer.catalog.sql.expressions import quote
from optimizer.plan.definition import EVENTS, Demand, Plan, Tree
from optimizer.plan.measures import demands_of
from optimizer.rewrite.answer_types import may_widen
from optimizer.rewrite.partials import finish_query
from optimizer.rewrite.views import Names, count_passing, select_sql, source_views, tree_view

CLOCK = "SET TIME ZONE '{}'"
FEW_COPIES = 4  # a window that holds a slice no more often than this folds the feeding tree's slices itself


@dataclass(frozen=True)
class Script:
    """SQL in the order it is run: the views that the answers read, then the answers by statement."""

    views: tuple[str, ...]
    answers: Mapping[str, str]
    as_written: tuple[str, ...]  # statements that are printed as the user wrote them

    @property
    def text(self) -> str:
        """The whole script, with a semicolon after every statement."""
        return "".join(f"{sql};\n\n" for sql in (*self.views, *self.answers.values())).rstrip("\n") + "\n"


def rewrite(catalog: Catalog, plan: Plan, types: Mapping[str, str]) -> Script:
    """Rewrite a plan as plain Spark SQL; `types` are Spark's types of the answers by query id, where they are known."""
    plan = merge_copies(with_demands(catalog, plan))
    members = members_of(catalog, plan.stream)
    answering = answering_trees(plan, members, types)
    sources = _sources(plan, members, answering)
    readers = _readers(plan, sources)
    names = Names.of(plan, [*catalog.streams, *catalog.tables])
    time = catalog.streams[plan.stream].time
    views = [CLOCK.format(catalog.streams[plan.stream].zone), *source_views(catalog, plan.stream)]
    for tree in _feeders_first(plan):
        if readers[tree.id]:
            views += _cache_if_shared(names.trees[tree.id], tree_view(plan, tree, names, time), readers[tree.id])
    answers = {
        statement: _with_having(
            catalog.statements[statement],
            answer(catalog.statements[statement], queries, names.trees[sources[statement]], names)
            if statement in sources
            else script_sql({query.id: query for query in queries}, catalog.statements[statement].columns, time),
        )
        for statement, queries in members.items()
    }
    return Script(tuple(views), answers, tuple(name for name in members if name not in sources))


def _with_having(statement: Statement, sql: str) -> str:
    return f"SELECT * FROM ({sql}) WHERE {statement.having}" if statement.having else sql


def with_demands(catalog: Catalog, plan: Plan) -> Plan:
    """Return the plan whose trees, and those that feed them, hold all that queries with a FILTER ask for."""
    trees = {tree.id: tree for tree in plan.trees}
    for tree in plan.trees:
        measures = {measure for id in tree.queries for measure in demands_of(catalog.query(str(id)))}
        name = tree.id
        while name != EVENTS:
            missing = measures - set(trees[name].measures)
            added = tuple(Demand(measure, "", tree.windows) for measure in sorted(missing))
            trees[name] = replace(trees[name], demands=trees[name].demands + added)
            name = trees[name].feed
    return replace(plan, trees=tuple(trees.values()))


def merge_copies(plan: Plan) -> Plan:
    """Join trees that would only copy the slices that feed them with their feeders.

    The engine keeps such trees apart for their kernels; SQL has no use for a second copy.
    """
    stands_for = {tree.id: _original(plan, tree).id for tree in plan.trees}
    originals = [tree for tree in plan.trees if stands_for[tree.id] == tree.id]
    queries = {
        tree.id: tuple(query for copy in plan.trees if stands_for[copy.id] == tree.id for query in copy.queries)
        for tree in originals
    }
    trees = (replace(tree, queries=queries[tree.id], feed=stands_for.get(tree.feed, EVENTS)) for tree in originals)
    return replace(plan, trees=tuple(trees))


def _original(plan: Plan, tree: Tree) -> Tree:
    """Return the tree itself, or the first one up its feeds that has the same slices."""
    while tree.feed != EVENTS:
        feeder = plan.tree(tree.feed)
        if (feeder.group_by, feeder.edges()) != (tree.group_by, tree.edges()):
            break
        tree = feeder
    return tree


def _cache_if_shared(view: str, definition: str, readers: int) -> list[str]:
    """Cache a view that is read more than once: by itself Spark would compute it for every reader."""
    if readers == 1:
        return [definition]
    # a view of the same name and text would keep the slices of an earlier run
    return [f"UNCACHE TABLE IF EXISTS {quote(view)}", definition, f"CACHE LAZY TABLE {quote(view)}"]


def _sources(plan: Plan, members: Members, answering: Mapping[str, Tree]) -> dict[str, str]:
    """Return the tree whose slices a statement folds, without trees of one statement whose slices save nothing."""
    statements_of = Counter(tree.id for tree in answering.values())
    feeding = {tree.feed for tree in plan.trees}
    sources = {}
    for statement, tree in answering.items():
        alone = statements_of[tree.id] == 1 and tree.id not in feeding
        source = tree.feed if alone and _may_fold_feed(members[statement][0], tree) else tree.id
        if source != EVENTS:
            sources[statement] = source
    return sources


def _may_fold_feed(query: Query, tree: Tree) -> bool:
    """Say whether a window may fold what feeds its tree: events only if each is in one window, as in plain SQL."""
    copies = query.window.overlap_factor
    return copies == 1 if tree.feed == EVENTS else copies <= FEW_COPIES


def _readers(plan: Plan, sources: Mapping[str, str]) -> Counter[str]:
    """Count the statements and views that read each tree; a tree without readers is not written."""
    readers = Counter(sources.values())
    for tree in reversed(_feeders_first(plan)):
        if readers[tree.id] and tree.feed != EVENTS:
            readers[tree.feed] += 1
    return readers


def _feeders_first(plan: Plan) -> list[Tree]:
    """Return the trees in an order in which each comes after the tree that feeds it."""
    ordered: dict[str, Tree] = {}

    def place(tree: Tree) -> None:
        if tree.feed != EVENTS and tree.feed not in ordered:
            place(plan.tree(tree.feed))
        ordered.setdefault(tree.id, tree)

    for tree in plan.trees:
        place(tree)
    return list(ordered.values())


Members = dict[str, list[Query]]  # the queries of every statement


def members_of(catalog: Catalog, stream: str) -> Members:
    """Return the statements over a stream, in the catalog's order, with their queries."""
    members: Members = {}
    for query in catalog.of_stream(stream):
        members.setdefault(query.statement, []).append(query)
    return members


def answering_trees(plan: Plan, members: Members, types: Mapping[str, str]) -> dict[str, Tree]:
    """Return the tree of every statement that slices can answer; the other statements stay as the user wrote them."""
    tree_of = {query: tree for tree in plan.trees for query in tree.queries}
    answering = {}
    for statement, queries in members.items():
        tree = tree_of.get(queries[0].id)
        together = all(tree_of.get(query.id) is tree for query in queries)
        exact = not queries[0].window.rows and not any(may_widen(query, types) for query in queries)
        if tree and together and exact:
            answering[statement] = tree
    return answering


def answer(statement: Statement, members: list[Query], view: str, names: Names) -> str:
    """Return the statement over slices: its windows end at edges, so each window holds the slices that begin in it."""
    queries = {query.id: query for query in members}
    query = members[0]
    window = window_call(query.window, names.slice)
    name = window if "window" in map(str.lower, query.group_by) else "window"
    columns = [_column(column, queries, names, name) for column in statement.columns]
    where = f"{quote(names.measures[count_passing(query.where)])} > 0" if query.where else ""
    grouped = [*map(quote, query.group_by), window]
    return select_sql(columns, view, where, grouped, statement.id)


def _column(column: Column, queries: Mapping[str, Query], names: Names, window: str) -> str:
    if column.kind == "answer":
        source = finish_query(queries[column.source], names.measures)
    elif column.kind == "window":
        source = window + column.source.removeprefix("window")
    else:
        source = quote(column.source)
    return source if source == quote(column.name) else f"{source} AS {quote(column.name)}"
