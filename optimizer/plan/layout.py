"""What a picture of a plan shows, and where: a box per tree, in columns from left to right, first the events.

The layout knows no unit: matplotlib draws it in inches, the page in pixels. y grows downwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.plan.definition import EVENTS, Plan, Tree
from optimizer.plan.explain import cost_text, counted, length

MOST = 12  # trees of one level that get a box of their own
SLIDES = 7  # slides that are named


@dataclass(frozen=True)
class Box:
    """A tree, or several that are summed up."""

    id: str
    depth: int
    feed: str
    queries: int
    title: str
    lines: tuple[str, ...]
    share: float  # of the plan's cost


def boxes_of(plan: Plan) -> list[Box]:
    """The boxes of a plan, level by level, the dearest trees first; a level's many cheap trees are one box."""
    levels: dict[int, list[Tree]] = defaultdict(list)
    for tree in plan.trees:
        levels[depth(plan, tree)].append(tree)
    feeders = {tree.feed for tree in plan.trees}
    boxes = []
    for level, trees in sorted(levels.items()):
        ranked = sorted(trees, key=lambda tree: (tree.id not in feeders, -tree.cost))
        boxes += [_box(plan, tree, level) for tree in ranked[:MOST]]
        if len(ranked) > MOST:
            boxes.append(_rest(plan, ranked[MOST:], level))
    return boxes


def depth(plan: Plan, tree: Tree) -> int:
    """How many trees stand between a tree and the events."""
    level = 0
    while tree.feed != EVENTS:
        tree, level = plan.tree(tree.feed), level + 1
    return level


def _box(plan: Plan, tree: Tree, level: int) -> Box:
    queries = counted(len(tree.queries)) if len(tree.queries) else "answers no query"
    keys = f", by {', '.join(tree.group_by)}" if tree.group_by else ""
    answers = [_ranges(plan, [tree]), cut_text(tree.technique, 50)] if len(tree.queries) else []
    if tree.feed != EVENTS and plan.tree(tree.feed).group_by != tree.group_by:
        answers.append(f"rolled up from {tree.feed}")
    if tree.shards:
        ways = "in shards" if tree.shards.chosen else "separately"
        answers.append(f"{tree.shards.predicates} predicates {ways}")
    lines = [_slides(plan, [tree]), *answers, f"{_rate(plan, tree)}, cost {cost_text(tree.cost)}"]
    return Box(
        tree.id, level, tree.feed, len(tree.queries), f"{tree.id}: {queries}{keys}", tuple(lines), _share(plan, [tree])
    )


def _rest(plan: Plan, trees: Sequence[Tree], level: int) -> Box:
    queries = sum(len(tree.queries) for tree in trees)
    lines = (_slides(plan, trees), _ranges(plan, trees), f"cost {cost_text(sum(tree.cost for tree in trees))} together")
    title = f"{len(trees):,} trees more: {counted(queries)}"
    return Box(f"more{level}", level, trees[0].feed, queries, title, lines, _share(plan, trees))


def _slides(plan: Plan, trees: Sequence[Tree]) -> str:
    rows = trees[0].windows.rows
    slides = np.unique(np.concatenate([tree.windows.slide for tree in trees])).tolist()
    texts = ", ".join(length(plan, slide, rows) for slide in slides[:SLIDES])
    return cut_text(f"slides {texts}", 48) + (f" ... ({len(slides)})" if len(slides) > SLIDES else "")


def _ranges(plan: Plan, trees: Sequence[Tree]) -> str:
    rows = trees[0].windows.rows
    shortest = min(int(tree.windows.range.min()) for tree in trees)
    longest = max(int(tree.windows.range.max()) for tree in trees)
    text = length(plan, shortest, rows)
    return f"range {text}" if shortest == longest else f"ranges {text} to {length(plan, longest, rows)}"


def _rate(plan: Plan, tree: Tree) -> str:
    if tree.windows.rows:
        return f"{float(tree.edge_rate):.4g} edges/row"
    unit = "tick" if plan.traffic.ticks == 1 else "s"
    return f"{float(tree.edge_rate) * plan.traffic.ticks:.4g} edges/{unit}"


def _share(plan: Plan, trees: Sequence[Tree]) -> float:
    return sum(tree.cost for tree in trees) / plan.cost if plan.cost else 0.0


def cut_text(text: str, most: int) -> str:
    """Return as much of a text as fits into so many characters.

    >>> cut_text("slides 5 s, 10 s", 11)
    'slides 5...'
    """
    return text if len(text) <= most else text[: most - 3] + "..."


Point = tuple[float, float]


@dataclass(frozen=True)
class Sizes:
    """How large everything is, in the unit of whoever draws."""

    width: float  # of a box
    gap: float  # between two columns: the room for arrows
    line: float  # the height of a line of text
    frame: float  # what a box is higher than its lines: its title and its bar
    space: float  # between two boxes of a column, and around the picture
    left: float  # where the first column begins


@dataclass(frozen=True)
class Place:
    """A box, its left upper corner and its height."""

    box: Box
    x: float
    y: float
    height: float

    @property
    def middle(self) -> float:
        """Where arrows meet the box."""
        return self.y + self.height / 2


@dataclass(frozen=True)
class Layout:
    """All boxes with their places, and an arrow (start, end) into each, in the same order."""

    width: float
    height: float
    places: tuple[Place, ...]
    arrows: tuple[tuple[Point, Point], ...]


def lay_out(boxes: Sequence[Box], sizes: Sizes) -> Layout:
    """Return the boxes in columns by depth, every column in the middle, boxes in the order of their feeders.

    >>> tree = Box("t1", 0, EVENTS, 2, "t1: 2 queries", ("slides 5 s", "cost 3"), 1.0)
    >>> layout = lay_out([tree], Sizes(width=240, gap=44, line=18, frame=46, space=12, left=100))
    >>> (layout.width, layout.height), layout.places[0].y, layout.arrows
    ((352, 106), 12.0, (((56, 53.0), (100, 53.0)),))
    """
    depth = max((box.depth for box in boxes), default=0)
    columns = [[box for box in boxes if box.depth == level] for level in range(depth + 1)]
    height = max(_stack(column, sizes) for column in columns) + 2 * sizes.space
    exits = {EVENTS: (sizes.left - sizes.gap, height / 2)}
    places: list[Place] = []
    arrows: list[tuple[Point, Point]] = []
    for level, column in enumerate(columns):
        x = sizes.left + level * (sizes.width + sizes.gap)
        y = (height - _stack(column, sizes)) / 2
        for box in sorted(column, key=lambda box: exits.get(box.feed, exits[EVENTS])[1]):
            place = Place(box, x, y, _height(box, sizes))
            places.append(place)
            # a feeder that has no box of its own is summed up with others: its arrow comes from the events
            arrows.append((exits.get(box.feed, exits[EVENTS]), (x, place.middle)))
            exits[box.id] = (x + sizes.width, place.middle)
            y += place.height + sizes.space
    width = sizes.left + len(columns) * (sizes.width + sizes.gap) - sizes.gap + sizes.space
    return Layout(width, height, tuple(places), tuple(arrows))


def _stack(column: Sequence[Box], sizes: Sizes) -> float:
    """Return the height of a column of boxes."""
    return sum(_height(box, sizes) for box in column) + max(len(column) - 1, 0) * sizes.space


def _height(box: Box, sizes: Sizes) -> float:
    return len(box.lines) * sizes.line + sizes.frame
