"""A plan, arranged for reading: the figures, the picture as boxes in boxes, and every tree with its queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.catalog.model.catalog import Catalog
from optimizer.plan.definition import Plan, Tree
from optimizer.plan.explain import cost_text, edges_text, length
from optimizer.plan.picture import Box, Costs, box_trees, slides_text
from optimizer.plan.prices import Prices

LISTED = 500  # queries of one tree


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
    milliseconds: float | None  # per 1,000 events
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
    milliseconds: float | None  # CPU, per 1,000 events
    unshared: tuple[str, ...]
    picture: tuple[Box, ...]
    trees: list[TreeView]


def plan_view(plan: Plan, catalog: Catalog | None, prices: Prices | None = None) -> PlanView:
    """Arrange the plan with what the catalog says about its queries; the dearest trees first."""
    costs = Costs.of(plan, prices)
    shares = costs.shares
    trees = sorted(plan.trees, key=lambda tree: (-shares.get(tree.id, 0.0), tree.id))
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
        costs.whole,
        plan.unshared,
        box_trees(plan, costs),
        [_tree(plan, tree, fed.get(tree.id, []), catalog, costs) for tree in trees],
    )


def _tree(plan: Plan, tree: Tree, feeds: list[str], catalog: Catalog | None, costs: Costs) -> TreeView:
    return TreeView(
        tree.id,
        tree.feed,
        feeds,
        slides_text(plan, tree),
        edges_text(plan, tree),
        tree.technique,
        ", ".join(tree.group_by),
        cost_text(tree.cost),
        costs.shares.get(tree.id, 0.0),
        costs.milliseconds(costs.shares.get(tree.id, 0.0)),
        len(tree.queries),
        _lines(plan, tree.queries[:LISTED], catalog),
    )


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
