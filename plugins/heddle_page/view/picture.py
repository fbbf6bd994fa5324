"""Where everything of a plan's picture stands: boxes in columns, left to right from the events, and arrows between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.plan.boxes import Box, boxes_of
from optimizer.plan.definition import EVENTS, Plan

WIDTH, GAP, LINE, PAD = 240, 44, 18, 12  # pixels: a box, the room for arrows, a line of text, the air around
LEFT = 100  # where the first column of boxes begins: the events stand before it
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
        return _cut(self.box.title, LONGEST - 4)

    @property
    def lines(self) -> list[str]:
        """As much of every line as fits."""
        return [_cut(line, LONGEST) for line in self.box.lines]

    @property
    def share(self) -> float:
        """How long the bar of its share of the cost is."""
        return round(max((WIDTH - 2 * PAD) * self.box.share, 1), 1)

    @property
    def middle(self) -> int:
        """Where arrows meet it."""
        return self.y + self.height // 2


@dataclass(frozen=True)
class Picture:
    """All boxes, and arrows as SVG paths."""

    width: int
    height: int
    middle: int
    boxes: list[Placed]
    arrows: list[str]


def picture_of(plan: Plan) -> Picture:
    """The picture of a plan; it stays small however many trees there are (boxes_of sums the cheap ones up)."""
    boxes = boxes_of(plan)
    columns = [[box for box in boxes if box.depth == depth] for depth in range(max(_depths(boxes)) + 1)]
    height = max([_stack(column) for column in columns]) + PAD
    middle = height // 2
    exits = {EVENTS: (LEFT - GAP, middle)}
    placed: list[Placed] = []
    arrows: list[str] = []
    trees = {tree.id for tree in plan.trees}
    for level, column in enumerate(columns):
        x = LEFT + level * (WIDTH + GAP)
        y = middle - _stack(column) // 2
        for box in sorted(column, key=lambda box: exits.get(box.feed, exits[EVENTS])[1]):
            spot = Placed(box, x, y + PAD, _height(box), f"tree-{box.id}" if box.id in trees else "trees")
            placed.append(spot)
            arrows.append(_arrow(exits.get(box.feed, exits[EVENTS]), (x, spot.middle)))
            exits[box.id] = (x + WIDTH, spot.middle)
            y += spot.height + PAD
    return Picture(LEFT + len(columns) * (WIDTH + GAP) - GAP + PAD, height, middle, placed, arrows)


def _depths(boxes: Sequence[Box]) -> list[int]:
    return [box.depth for box in boxes] or [0]


def _stack(column: Sequence[Box]) -> int:
    return sum(_height(box) + PAD for box in column)


def _height(box: Box) -> int:
    return (len(box.lines) + 1) * LINE + 28


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    (x1, y1), (x2, y2) = start, end
    bend = (x1 + x2) // 2
    return f"M{x1} {y1}C{bend} {y1} {bend} {y2} {x2 - 7} {y2}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
