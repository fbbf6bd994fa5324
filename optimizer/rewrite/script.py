"""The whole script: the clock, the sources, the shared views, then one statement for each of the user's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Query
from optimizer.catalog.sql.expressions import quote
from optimizer.plan.definition import EVENTS, Plan, Tree
from optimizer.rewrite.answers import Members, answer, answering_trees, members_of
from optimizer.rewrite.same_slices import without_copies
from optimizer.rewrite.sources import source_views
from optimizer.rewrite.views import Names, tree_view

CLOCK = "SET TIME ZONE 'UTC'"
FEW_COPIES = 4  # a window that holds a slice no more often than this folds the feeding tree's slices itself


@dataclass(frozen=True)
class Script:
    """SQL to be run in this order: what the answers read from, then the answers by statement."""

    views: tuple[str, ...]
    answers: Mapping[str, str]
    as_written: tuple[str, ...]  # statements that are printed as the user wrote them

    @property
    def text(self) -> str:
        """All of it, each statement ended by a semicolon."""
        return "".join(f"{sql};\n\n" for sql in (*self.views, *self.answers.values())).rstrip("\n") + "\n"


def rewrite(catalog: Catalog, plan: Plan, types: Mapping[str, str]) -> Script:
    """The plan as plain Spark SQL; `types` are Spark's of the answers by query id, as far as they are known."""
    plan = without_copies(plan)
    members = members_of(catalog, plan.stream)
    answering = answering_trees(plan, members, types)
    sources = _sources(plan, members, answering)
    readers = _readers(plan, sources)
    names = Names.of(plan, [*catalog.streams, *catalog.tables])
    time = catalog.streams[plan.stream].time
    views = [CLOCK, *source_views(catalog, plan.stream)]
    for tree in _feeders_first(plan):
        if readers[tree.id]:
            views += _kept(names.trees[tree.id], tree_view(plan, tree, names, time), readers[tree.id])
    answers = {
        statement: answer(catalog.statements[statement], queries, names.trees[sources[statement]], names)
        if statement in sources
        else catalog.statements[statement].sql
        for statement, queries in members.items()
    }
    return Script(tuple(views), answers, tuple(name for name in members if name not in sources))


def _kept(view: str, definition: str, readers: int) -> list[str]:
    """A view that is read more than once is kept in memory: by itself Spark would compute it for every reader."""
    if readers == 1:
        return [definition]
    # a view of the same name and text would keep the slices of an earlier run
    return [f"UNCACHE TABLE IF EXISTS {quote(view)}", definition, f"CACHE LAZY TABLE {quote(view)}"]


def _sources(plan: Plan, members: Members, answering: Mapping[str, Tree]) -> dict[str, str]:
    """The tree whose slices each statement folds; a tree of one statement is left out where its slices save nothing."""
    asked = Counter(tree.id for tree in answering.values())
    feeding = {tree.feed for tree in plan.trees}
    found = {}
    for statement, tree in answering.items():
        alone = asked[tree.id] == 1 and tree.id not in feeding
        source = tree.feed if alone and _folds_alike(members[statement][0], tree) else tree.id
        if source != EVENTS:
            found[statement] = source
    return found


def _folds_alike(query: Query, tree: Tree) -> bool:
    """Whether a window may fold what feeds its tree: of events only when each is in one window, as in plain SQL."""
    copies = query.window.overlap_factor
    return copies == 1 if tree.feed == EVENTS else copies <= FEW_COPIES


def _readers(plan: Plan, sources: Mapping[str, str]) -> Counter[str]:
    """How many statements and views read each tree; one that nobody reads is not written."""
    readers = Counter(sources.values())
    for tree in reversed(_feeders_first(plan)):
        if readers[tree.id] and tree.feed != EVENTS:
            readers[tree.feed] += 1
    return readers


def _feeders_first(plan: Plan) -> list[Tree]:
    """The trees in an order in which each comes after the one that feeds it."""
    ordered: dict[str, Tree] = {}

    def place(tree: Tree) -> None:
        if tree.feed != EVENTS and tree.feed not in ordered:
            place(plan.tree(tree.feed))
        ordered.setdefault(tree.id, tree)

    for tree in plan.trees:
        place(tree)
    return list(ordered.values())
