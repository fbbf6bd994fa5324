"""A plan, arranged for reading: the figures, the picture as boxes in boxes, and every tree with its queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from optimizer.catalog.model.catalog import Catalog
from optimizer.plan.definition import EVENTS, Plan, Tree
from optimizer.plan.explain import cost_text, counted, edges_text, length
from optimizer.plan.prices import Prices, estimate_milliseconds, tree_shares

BOXES = 12  # trees of one level and feeder that get a box of their own


@dataclass(frozen=True)
class Nest:
    """A tree as a box, with the boxes of the trees that it feeds inside; or several trees that are summed up."""

    target: str  # the tree that it opens
    title: str
    lines: tuple[str, ...]
    share: float
    milliseconds: float | None  # per 1,000 events
    queries: int
    inside: tuple[Nest, ...]


@dataclass(frozen=True)
class Costs:
    """What every tree takes of a plan's cost, and what all of it is."""

    shares: Mapping[str, float]
    whole: float | None  # CPU milliseconds per 1,000 events; None where prices are not known

    def of(self, share: float) -> float | None:
        """Return a share of the cost in milliseconds."""
        return None if self.whole is None else share * self.whole


def nest_trees(plan: Plan, costs: Costs) -> tuple[Nest, ...]:
    """Return the boxes of the trees that events feed; however many trees there are, the boxes stay few."""
    fed: dict[str, list[Tree]] = {}
    for tree in plan.trees:
        fed.setdefault(tree.feed, []).append(tree)
    return _nests(plan, EVENTS, fed, costs)


def _nests(plan: Plan, feed: str, fed: Mapping[str, list[Tree]], costs: Costs) -> tuple[Nest, ...]:
    shares = costs.shares
    ranked = sorted(fed.get(feed, ()), key=lambda tree: (tree.id not in fed, -shares.get(tree.id, 0.0)))
    boxes = [_nest(plan, tree, fed, costs) for tree in ranked[:BOXES]]
    if len(ranked) > BOXES:
        rest = ranked[BOXES:]
        queries = sum(len(tree.queries) for tree in rest)
        share = sum(shares.get(tree.id, 0.0) for tree in rest)
        title = f"{len(rest):,} trees more: {counted(queries)}"
        boxes.append(Nest("trees", title, ("each cheaper than those above",), share, costs.of(share), queries, ()))
    return tuple(boxes)


def _nest(plan: Plan, tree: Tree, fed: Mapping[str, list[Tree]], costs: Costs) -> Nest:
    keys = f" by {', '.join(tree.group_by)}" if tree.group_by else ""
    asked = counted(len(tree.queries)) if len(tree.queries) else "answers no query"
    lines = [f"slides {_slides(plan, tree)}"]
    if len(tree.queries):
        lines += [_ranges(plan, tree), tree.technique]
    if tree.shards:
        ways = "in shards" if tree.shards.chosen else "separately"
        lines.append(f"{tree.shards.predicates} {'predicate' if tree.shards.predicates == 1 else 'predicates'} {ways}")
    share = costs.shares.get(tree.id, 0.0)
    inside = _nests(plan, tree.id, fed, costs)
    title = f"{tree.id}: {asked}{keys}"
    return Nest(f"tree-{tree.id}", title, tuple(lines), share, costs.of(share), len(tree.queries), inside)


def _ranges(plan: Plan, tree: Tree) -> str:
    low, high = int(tree.windows.range.min()), int(tree.windows.range.max())
    texts = [length(plan, ticks, tree.windows.rows) for ticks in (low, high)]
    return f"range {texts[0]}" if low == high else f"ranges {texts[0]} to {texts[1]}"


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
    picture: tuple[Nest, ...]
    trees: list[TreeView]


def plan_view(plan: Plan, catalog: Catalog | None, prices: Prices | None = None) -> PlanView:
    """Arrange the plan with what the catalog says about its queries; the dearest trees first."""
    costs = Costs(tree_shares(plan, prices), estimate_milliseconds(plan, prices))
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
        nest_trees(plan, costs),
        [_tree(plan, tree, fed.get(tree.id, []), catalog, costs) for tree in trees],
    )


def _tree(plan: Plan, tree: Tree, feeds: list[str], catalog: Catalog | None, costs: Costs) -> TreeView:
    return TreeView(
        tree.id,
        tree.feed,
        feeds,
        _slides(plan, tree),
        edges_text(plan, tree),
        tree.technique,
        ", ".join(tree.group_by),
        cost_text(tree.cost),
        costs.shares.get(tree.id, 0.0),
        costs.of(costs.shares.get(tree.id, 0.0)),
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
