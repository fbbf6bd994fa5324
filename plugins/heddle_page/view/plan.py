"""A plan, arranged for reading: the figures, the picture, and every tree with its queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.catalog.model.catalog import Catalog
from optimizer.plan.definition import Plan, Tree
from optimizer.plan.explain import cost_text, edges_text, length
from plugins.heddle_page.view.picture import Picture, picture_of

LISTED = 500  # queries of one tree
SLIDES = 8


@dataclass(frozen=True)
class QueryLine:
    """A query in a tree; without the catalog, its name alone."""

    id: str
    asks: str = ""
    where: str = ""
    range: str = ""
    slide: str = ""


@dataclass(frozen=True)
class TreeView:
    """A tree and what it answers."""

    id: str
    feed: str
    feeds: list[str]
    slides: str
    edges: str
    technique: str
    group_by: str
    cost: str
    share: float
    count: int
    queries: list[QueryLine]


@dataclass(frozen=True)
class PlanView:
    """The whole plan."""

    fingerprint: str
    strategy: str
    rate: float
    keys: float
    exact: bool
    queries: int
    cost: str
    no_share: str
    shared: str
    saving: float
    unshared: tuple[str, ...]
    picture: Picture
    trees: list[TreeView]


def plan_view(plan: Plan, catalog: Catalog | None) -> PlanView:
    """Arrange the plan with what the catalog says about its queries; the dearest trees first."""
    trees = sorted(plan.trees, key=lambda tree: (-tree.cost, tree.id))
    fed: dict[str, list[str]] = {}
    for tree in trees:
        fed.setdefault(tree.feed, []).append(tree.id)
    return PlanView(
        plan.fingerprint(),
        plan.strategy,
        plan.rate,
        plan.keys,
        plan.exact,
        sum(len(tree.queries) for tree in plan.trees),
        cost_text(plan.cost),
        cost_text(plan.costs.no_share),
        cost_text(plan.costs.shared),
        plan.saving,
        plan.unshared,
        picture_of(plan),
        [_tree(plan, tree, fed.get(tree.id, []), catalog) for tree in trees],
    )


def _tree(plan: Plan, tree: Tree, feeds: list[str], catalog: Catalog | None) -> TreeView:
    return TreeView(
        tree.id,
        tree.feed,
        feeds,
        _slides(plan, tree),
        edges_text(plan, tree),
        tree.technique,
        ", ".join(tree.group_by),
        cost_text(tree.cost),
        tree.cost / plan.cost if plan.cost else 0.0,
        len(tree.queries),
        _lines(plan, tree.queries[:LISTED], catalog),
    )


def _slides(plan: Plan, tree: Tree) -> str:
    slides = sorted(set(tree.windows.slide.tolist()))
    named = ", ".join(length(plan, slide, tree.windows.rows) for slide in slides[:SLIDES])
    return f"{named}, ... ({len(slides)})" if len(slides) > SLIDES else named


def _lines(plan: Plan, queries: Sequence[str | int], catalog: Catalog | None) -> list[QueryLine]:
    return [_line(plan, str(query), catalog) for query in queries]


def _line(plan: Plan, id: str, catalog: Catalog | None) -> QueryLine:
    if catalog is None or id not in catalog.rows:
        return QueryLine(id)
    query = catalog.query(id)
    rows = query.window.rows
    return QueryLine(
        id,
        f"{query.aggregate}({', '.join(query.arguments)})",
        query.where,
        length(plan, query.window.range, rows),
        length(plan, query.window.slide, rows),
    )
