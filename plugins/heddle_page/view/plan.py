"""A plan, arranged for reading: the figures, the picture as SVG, and every tree with its queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.catalog.model.catalog import Catalog
from optimizer.plan.definition import Plan, Tree
from optimizer.plan.explain import cost_text, edges_text, length
from optimizer.plan.layout import Box, Place, Point, Sizes, boxes_of, cut_text, lay_out

PAD = 12  # the air inside a box, and between boxes
PIXELS = Sizes(width=240, gap=44, line=18, frame=46, space=PAD, left=100)
LONGEST = 36  # characters that fit into a box


@dataclass(frozen=True)
class Placed:
    """A box and its place; `target` is the tree that it opens."""

    box: Box
    x: int
    y: int
    height: int
    target: str

    @property
    def title(self) -> str:
        """As much of the title as fits."""
        return cut_text(self.box.title, LONGEST - 4)

    @property
    def lines(self) -> list[str]:
        """As much of every line as fits."""
        return [cut_text(line, LONGEST) for line in self.box.lines]

    @property
    def share(self) -> float:
        """How long the bar of its share of the cost is."""
        return round(max((PIXELS.width - 2 * PAD) * self.box.share, 1), 1)


@dataclass(frozen=True)
class Picture:
    """All boxes, and arrows as SVG paths."""

    width: int
    height: int
    middle: int
    boxes: list[Placed]
    arrows: list[str]


def picture_of(plan: Plan) -> Picture:
    """Return the picture of a plan; it stays small however many trees there are (boxes_of sums the cheap ones up)."""
    layout = lay_out(boxes_of(plan), PIXELS)
    trees = {tree.id for tree in plan.trees}
    boxes = [_placed(place, trees) for place in layout.places]
    width, height = round(layout.width), round(layout.height)
    return Picture(width, height, height // 2, boxes, [_path(start, end) for start, end in layout.arrows])


def _placed(place: Place, trees: set[str]) -> Placed:
    target = f"tree-{place.box.id}" if place.box.id in trees else "trees"
    return Placed(place.box, round(place.x), round(place.y), round(place.height), target)


def _path(start: Point, end: Point) -> str:
    (x1, y1), (x2, y2) = ((round(x), round(y)) for x, y in (start, end))
    bend = (x1 + x2) // 2
    return f"M{x1} {y1}C{bend} {y1} {bend} {y2} {x2 - 7} {y2}"


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
