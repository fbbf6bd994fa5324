"""The boxes of a plan's picture: a tree is a box, and the trees that it feeds are boxes inside it.

The page lays the boxes out by itself; `lay_out` gives them places for a picture of a given width. y grows downwards.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.plan.definition import EVENTS, Plan, Tree
from optimizer.plan.explain import counted, length
from optimizer.plan.prices import Prices, estimate_milliseconds, tree_shares

MOST = 12  # trees with one feeder that get a box of their own
SLIDES = 8  # slides that are named


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
