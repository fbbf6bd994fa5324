"""A plan as a picture: trees as boxes below the events, and inside each the trees that it feeds.

`box_trees` makes the boxes and `lay_out` gives them places for a picture of a given width, y growing downwards; the
page lays the boxes out by itself.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from optimizer.errors import HeddleError
from optimizer.plan.definition import EVENTS, Plan, Tree
from optimizer.plan.explain import cost_text, counted, length
from optimizer.plan.prices import Prices, estimate_milliseconds, tree_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST = 12  # trees with one feeder that get a box of their own
SLIDES = 8  # slides that are named
WIDTH = 10.0  # inches
MARGIN, HEAD, STREAM = 0.2, 0.95, 0.34  # inches: around, of title and subtitle, of the events' bar
SUFFIXES = (".svg", ".png")
INK, PAPER, BAR, FREE, RAISED = "#1f2933", "#ffffff", "#2a7f9e", "#f2efe6", "#eef4f7"


@dataclass(frozen=True)
class Box:
    """A tree with the boxes of the trees that it feeds inside; or several trees that are summed up."""

    tree: str  # empty for trees that are summed up
    title: str
    lines: tuple[str, ...]
    share: float  # of the plan's cost
    milliseconds: float | None  # per 1,000 events
    queries: int
    inside: tuple[Box, ...] = ()


@dataclass(frozen=True)
class Costs:
    """What every tree takes of a plan's cost, and what all of it is."""

    shares: Mapping[str, float]
    whole: float | None  # CPU milliseconds per 1,000 events; None where prices are not known

    @classmethod
    def of(cls, plan: Plan, prices: Prices | None) -> Costs:
        """Return a plan's costs in seconds where prices are known, else in operations."""
        return cls(tree_shares(plan, prices), estimate_milliseconds(plan, prices))

    def milliseconds(self, share: float) -> float | None:
        """Return a share of the cost in milliseconds."""
        return None if self.whole is None else share * self.whole


def box_trees(plan: Plan, costs: Costs) -> tuple[Box, ...]:
    """Return the boxes of the trees that events feed; however many trees there are, the boxes stay few."""
    fed: dict[str, list[Tree]] = {}
    for tree in plan.trees:
        fed.setdefault(tree.feed, []).append(tree)
    return _boxes_fed_by(EVENTS, plan, fed, costs)


def _boxes_fed_by(feed: str, plan: Plan, fed: Mapping[str, list[Tree]], costs: Costs) -> tuple[Box, ...]:
    shares = costs.shares
    ranked = sorted(fed.get(feed, ()), key=lambda tree: (tree.id not in fed, -shares.get(tree.id, 0.0)))
    boxes = [_box(tree, plan, fed, costs) for tree in ranked[:MOST]]
    if rest := ranked[MOST:]:
        queries = sum(len(tree.queries) for tree in rest)
        share = sum(shares.get(tree.id, 0.0) for tree in rest)
        title = f"{len(rest):,} trees more: {counted(queries)}"
        boxes.append(Box("", title, ("each cheaper than those above",), share, costs.milliseconds(share), queries))
    return tuple(boxes)


def _box(tree: Tree, plan: Plan, fed: Mapping[str, list[Tree]], costs: Costs) -> Box:
    keys = f" by {', '.join(tree.group_by)}" if tree.group_by else ""
    queries = counted(len(tree.queries)) if len(tree.queries) else "answers no query"
    lines = [f"slides {slides_text(plan, tree)}"]
    if len(tree.queries):
        lines += [_ranges_text(plan, tree), tree.technique]
    if tree.shards:
        ways = "in shards" if tree.shards.is_cheaper else "separately"
        lines.append(f"{counted(tree.shards.predicates, 'predicate', 'predicates')} {ways}")
    share = costs.shares.get(tree.id, 0.0)
    inside = _boxes_fed_by(tree.id, plan, fed, costs)
    title = f"{tree.id}: {queries}{keys}"
    return Box(tree.id, title, tuple(lines), share, costs.milliseconds(share), len(tree.queries), inside)


def slides_text(plan: Plan, tree: Tree) -> str:
    """Return the slides of a tree's windows, the first few: "1s, 5s, 1min"."""
    slides = np.unique(tree.windows.slide).tolist()
    named = ", ".join(length(plan, slide, tree.windows.rows) for slide in slides[:SLIDES])
    return f"{named}, ... ({len(slides)})" if len(slides) > SLIDES else named


def _ranges_text(plan: Plan, tree: Tree) -> str:
    low, high = int(tree.windows.range.min()), int(tree.windows.range.max())
    texts = [length(plan, ticks, tree.windows.rows) for ticks in (low, high)]
    return f"range {texts[0]}" if low == high else f"ranges {texts[0]} to {texts[1]}"


@dataclass(frozen=True)
class Sizes:
    """How large everything is, in the unit of whoever draws."""

    narrowest: float  # that a box may be, where the picture is not narrower itself
    line: float  # the height of a line of text
    letter: float  # the width of a letter, on average
    pad: float  # between the frame of a box and what is in it
    gap: float  # between two boxes


@dataclass(frozen=True)
class Place:
    """A box, its left upper corner and size, and its lines as they fit; the title and the bar of its cost take a line
    each."""

    box: Box
    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]


def lay_out(boxes: Sequence[Box], sizes: Sizes, width: float, x: float = 0.0, y: float = 0.0) -> list[Place]:
    """Return the places of boxes and of those inside them, in rows of the given width, a feeder before what it feeds.

    A box that holds others takes a row of its own; the others share rows of equal height.

    >>> leaf = Box("t2", "t2: 1 query", ("slides 5s",), 0.5, None, 1)
    >>> sizes = Sizes(narrowest=40, line=10, letter=1, pad=5, gap=5)
    >>> root = Box("t1", "t1: 2 queries", ("slides 1s",), 0.5, None, 2, (leaf, leaf))
    >>> for place in lay_out([root, leaf], sizes, 100):
    ...     print(place.box.tree, place.x, place.y, place.width, place.height)
    t1 0.0 0.0 100.0 75.0
    t2 5.0 35.0 42.5 35.0
    t2 52.5 35.0 42.5 35.0
    t2 0.0 80.0 100.0 35.0
    """
    places: list[Place] = []
    for row in _rows(boxes, sizes, width):
        each = (width - (len(row) - 1) * sizes.gap) / len(row)
        placed = [_place(box, sizes, each, x + number * (each + sizes.gap), y) for number, box in enumerate(row)]
        height = max(nest[0].height for nest in placed)
        for first, *inner in placed:
            places += [Place(first.box, first.x, first.y, first.width, height, first.lines), *inner]
        y += height + sizes.gap
    return places


def _rows(boxes: Sequence[Box], sizes: Sizes, width: float) -> list[Sequence[Box]]:
    """Return the boxes of every row, rows of boxes without others as even as they can be."""
    feeders = [box for box in boxes if box.inside]
    leaves = [box for box in boxes if not box.inside]
    rows: list[Sequence[Box]] = [[box] for box in feeders]
    if leaves:
        most = max(1, int((width + sizes.gap) // (sizes.narrowest + sizes.gap)))
        count = -(-len(leaves) // most)
        parts = np.array_split(np.arange(len(leaves)), count)
        rows += [[leaves[number] for number in part] for part in parts]
    return rows


def _place(box: Box, sizes: Sizes, width: float, x: float, y: float) -> list[Place]:
    """Return the place of a box, then those of what is inside."""
    letters = max(1, int((width - 2 * sizes.pad) / sizes.letter))
    lines = tuple(textwrap.wrap(", ".join(box.lines), letters))
    head = sizes.pad + (2 + len(lines)) * sizes.line
    if not box.inside:
        return [Place(box, x, y, width, head + sizes.pad - sizes.line / 2, lines)]
    inner = lay_out(box.inside, sizes, width - 2 * sizes.pad, x + sizes.pad, y + head)
    bottom = max(place.y + place.height for place in inner) + sizes.pad
    return [Place(box, x, y, width, bottom - y, lines), *inner]


INCHES = Sizes(narrowest=2.9, line=0.2, letter=0.068, pad=0.12, gap=0.14)


def draw(plan: Plan, path: Path, prices: Prices | None = None) -> None:
    """Write the picture as SVG or PNG, by the suffix."""
    if path.suffix.lower() not in SUFFIXES:
        raise HeddleError(f"{path}: a picture is .svg or .png; change the suffix")
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": plan.fingerprint(), "svg.fonttype": "none", "font.size": 9}):
        metadata: dict[str, Any] = {"Date": None} if path.suffix.lower() == ".svg" else {}
        figure(plan, prices).savefig(path, metadata=metadata, dpi=110)


def figure(plan: Plan, prices: Prices | None = None) -> Figure:
    """Return the picture as a matplotlib figure."""
    from matplotlib.figure import Figure

    costs = Costs.of(plan, prices)
    above = HEAD + STREAM + INCHES.gap
    places = lay_out(box_trees(plan, costs), INCHES, WIDTH - 2 * MARGIN, MARGIN, above)
    height = max((place.y + place.height for place in places), default=above) + MARGIN
    figure = Figure(figsize=(WIDTH, height), facecolor=PAPER)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(height, 0)  # y grows downwards, as in the layout
    axes.axis("off")
    axes.text(MARGIN, 0.35, _title(plan), fontsize=13, color=INK, weight="bold", va="center")
    axes.text(MARGIN, 0.53, _subtitle(plan, costs), fontsize=9, color=INK, va="top")
    _draw_events(axes, plan)
    for place in places:
        _draw_box(axes, place)
    return figure


def _draw_events(axes: Axes, plan: Plan) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((MARGIN, HEAD), WIDTH - 2 * MARGIN, STREAM, color=INK, zorder=1))
    text = f"events of {plan.stream}" if plan.stream else "events"
    axes.text(MARGIN + INCHES.pad, HEAD + STREAM / 2, text, fontsize=9.5, weight="bold", color=PAPER, va="center")


def _draw_box(axes: Axes, place: Place) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    box, left = place.box, place.x + INCHES.pad
    shape = FancyBboxPatch(
        (place.x, place.y),
        place.width,
        place.height,
        boxstyle="round,pad=0,rounding_size=0.06",
        facecolor=FREE if not box.queries else RAISED if box.inside else PAPER,
        edgecolor=INK,
        linewidth=1,
        linestyle="-" if box.queries else "--",
        zorder=2,
    )
    axes.add_patch(shape)
    middle = place.y + INCHES.pad + INCHES.line / 2
    axes.text(left, middle, box.title, fontsize=9.5, weight="bold", color=INK, va="center", zorder=3)
    for line in place.lines:
        middle += INCHES.line
        axes.text(left, middle, line, fontsize=8.5, color=INK, va="center", zorder=3)
    middle += INCHES.line
    room = INCHES.narrowest / 2
    axes.add_patch(Rectangle((left, middle - 0.04), room, 0.08, color=INK, alpha=0.12, zorder=3))
    axes.add_patch(Rectangle((left, middle - 0.04), room * min(box.share, 1.0), 0.08, color=BAR, zorder=3))
    cost = f"{box.share:.1%}" if box.milliseconds is None else f"{box.share:.1%}, {box.milliseconds:.2g} ms"
    axes.text(left + room + 0.08, middle, cost, fontsize=8, color=INK, va="center", zorder=3)


def _title(plan: Plan) -> str:
    name = plan.stream or "in-memory windows"
    queries = counted(sum(len(tree.queries) for tree in plan.trees))
    return f"{name}: {queries} in {counted(len(plan.trees), 'tree', 'trees')} by {plan.strategy}"


def _subtitle(plan: Plan, costs: Costs) -> str:
    if costs.whole is None:
        planned, alone, together = map(cost_text, (plan.cost, plan.costs.no_share, plan.costs.shared))
        first = f"cost {planned} operations a second; one tree per query {alone}, one tree for all {together}"
    else:
        first = f"{costs.whole:.3g} CPU ms per 1,000 events, estimated"
    return f"{first}\ninside a box: trees that it feeds; bars: share of the plan's cost; dashed: answers no query"
