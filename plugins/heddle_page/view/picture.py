"""A plan's picture as SVG: the boxes of its layout in pixels, with the texts that fit, and arrows as paths."""

from __future__ import annotations

from dataclasses import dataclass

from optimizer.plan.boxes import Box, boxes_of, cut_text
from optimizer.plan.definition import Plan
from optimizer.plan.layout import Place, Point, Sizes, lay_out

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
