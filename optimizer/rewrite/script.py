"""The whole script: the clock, the sources, the shared views, then one statement for each of the user's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from optimizer.catalog.model.catalog import Catalog, script_sql, window_call
from optimizer.catalog.model.query import UTC, Column, Query, Statement
from optimizer.catalog.sql.expressions import free_name, quote
from optimizer.errors import HeddleError
from optimizer.plan.definition import EVENTS, Demand, Plan, Tree
from optimizer.plan.measures import demands_of
from optimizer.rewrite.answer_types import may_widen
from optimizer.rewrite.covers import (
    Covers,
    Fold,
    Members,
    choose_covers,
    end_sql,
    fold_windows,
    group_sql,
    lateral_sql,
    start_sql,
    where_sql,
    window_of,
    windows_sql,
)
from optimizer.rewrite.partials import finish_query
from optimizer.rewrite.views import Names, count_passing, select_sql, source_views, tree_view
from optimizer.windows.window import CUTTY

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


def rewrite(catalog: Catalog, plan: Plan, types: Mapping[str, str], may_cover: bool = True) -> Script:
    """Rewrite a plan as plain Spark SQL; `types` are Spark's types of the answers by query id, where they are known.

    Where windows may cover others, statements read each other's windows where that pays."""
    layout = lay_out(catalog, plan, types, may_cover)
    names, time = layout.names, catalog.streams[plan.stream].time
    views = [CLOCK.format(catalog.streams[plan.stream].zone), *source_views(catalog, plan.stream)]
    for tree, readers in layout.trees:
        views += _cache_if_shared(names.trees[tree.id], tree_view(layout.plan, tree, names, time), readers)
    for view, sql in layout.windows.items():
        views += _cache_if_shared(view, f"CREATE OR REPLACE TEMPORARY VIEW {quote(view)} AS\n{sql}", readers=2)
    return Script(tuple(views), layout.answers, layout.as_written)


@dataclass(frozen=True)
class Layout:
    """What is shared and who reads it: the trees with their readers, feeders first, and the answers by statement."""

    plan: Plan
    names: Names
    trees: tuple[tuple[Tree, int], ...]
    sources: Mapping[str, str]  # the tree whose slices, or windows made of them, a statement folds
    answers: Mapping[str, str]
    windows: Mapping[str, str]  # the windows of a statement that others read, by view

    @property
    def as_written(self) -> tuple[str, ...]:
        """The statements that read the events."""
        return tuple(statement for statement in self.answers if statement not in self.sources)


def lay_out(catalog: Catalog, plan: Plan, types: Mapping[str, str], may_cover: bool) -> Layout:
    """Choose the trees that are written, and rewrite the statements over them, or over each other's windows."""
    if any(tree.slicing == CUTTY for tree in plan.trees):
        raise HeddleError("slices of cutty go on where a window ends, which SQL cannot see; plan with pairs or panes")
    plan = merge_copies(with_demands(catalog, plan))
    stream = catalog.streams[plan.stream]
    members = members_of(catalog, plan.stream)
    sources = _sources(plan, members, answering_trees(plan, members, types))
    # where clocks change, a day is no number of microseconds that SQL adds to a time
    covers = choose_covers(plan, members, sources) if may_cover and stream.zone == UTC else Covers()
    readers = _readers(plan, {name: tree for name, tree in sources.items() if name not in covers.covering})
    names = Names.of(plan, [*catalog.streams, *catalog.tables])
    used = {name.lower() for name in (*catalog.streams, *catalog.tables, *names.trees.values())}
    views = {name: free_name(f"{plan.stream}_{name}_windows", used) for name in covers.measures}
    folds, windows = _fold_windows(members, sources, covers, names, views)
    answers = {
        statement: _with_having(
            catalog.statements[statement],
            answer(catalog.statements[statement], queries, folds[statement], names)
            if statement in sources
            else script_sql({query.id: query for query in queries}, catalog.statements[statement].columns, stream.time),
        )
        for statement, queries in members.items()
    }
    trees = tuple((tree, readers[tree.id]) for tree in _feeders_first(plan) if readers[tree.id])
    return Layout(plan, names, trees, sources, answers, windows)


def _fold_windows(
    members: Members, sources: Mapping[str, str], covers: Covers, names: Names, views: Mapping[str, str]
) -> tuple[dict[str, Fold], dict[str, str]]:
    """Return what every statement folds, and the views of windows that others read, in the order they are made."""
    folds: dict[str, Fold] = {}
    windows: dict[str, str] = {}
    for name in sorted(sources, key=lambda name: (window_of(members, name), name)):  # those that are read first
        window, by = window_of(members, name), covers.covering.get(name, "")
        if by:
            folds[name] = fold_windows(views[by], window, window_of(members, by))
        else:
            folds[name] = Fold(names.trees[sources[name]], window)
        if name in views:
            keys = members[name][0].group_by
            windows[views[name]] = windows_sql(folds[name], keys, covers.measures[name], names)
            folds[name] = fold_windows(views[name], window, window)
    return folds, windows


def _with_having(statement: Statement, sql: str) -> str:
    return f"SELECT * FROM ({sql}) WHERE {statement.having}" if statement.having else sql


def with_demands(catalog: Catalog, plan: Plan) -> Plan:
    """Return the plan whose trees, and their feeders, hold the counts that queries with a FILTER ask for."""
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
    """Return the tree that a tree copies: the highest of its feeders with equal slices; itself if there is none."""
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
    """Return the tree whose slices each statement folds; none where one statement has a tree that saves nothing."""
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


def members_of(catalog: Catalog, stream: str) -> dict[str, list[Query]]:
    """Return the statements over a stream, in the catalog's order, with their queries."""
    members: dict[str, list[Query]] = {}
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


def answer(statement: Statement, members: list[Query], fold: Fold, names: Names) -> str:
    """Return the statement over slices, of which a window holds those that begin in it, or over other windows."""
    queries = {query.id: query for query in members}
    query = members[0]
    columns = [_column(column, queries, names, fold) for column in statement.columns]
    passing = f"{quote(names.measures[count_passing(query.where)])} > 0" if query.where else ""
    where = " AND ".join(filter(None, (passing, where_sql(fold, names))))
    grouped = group_sql(fold, map(quote, query.group_by), names)
    return select_sql(columns, fold.view, where, grouped, statement.id, lateral_sql(fold, names))


def _column(column: Column, queries: Mapping[str, Query], names: Names, fold: Fold) -> str:
    if column.kind == "answer":
        source = finish_query(queries[column.source], names.measures)
    elif column.kind == "window":
        source = _window_column(column.source, queries[next(iter(queries))].group_by, names, fold)
    else:
        source = quote(column.source)
    return source if source == quote(column.name) else f"{source} AS {quote(column.name)}"


def _window_column(source: str, keys: Sequence[str], names: Names, fold: Fold) -> str:
    """Return a window, its start or its end."""
    if not fold.distances:
        call = window_call(fold.window, names.slice)
        return source.replace("window", call, 1) if "window" in map(str.lower, keys) else source
    start, end = start_sql(fold, names), end_sql(fold, names)
    return {"window.start": start, "window.end": end}.get(source, f"named_struct('start', {start}, 'end', {end})")
