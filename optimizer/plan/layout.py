"""Where the boxes and arrows of a plan's picture stand: columns from left to right, the events before the first.

The layout knows no unit: matplotlib draws it in inches, the page in pixels. y grows downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.plan.boxes import Box
from optimizer.plan.definition import EVENTS

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
