"""A plan as a picture: trees as boxes, left to right from the events, an arrow from every tree to those it feeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optimizer.errors import HeddleError
from optimizer.plan.boxes import Box, boxes_of
from optimizer.plan.definition import EVENTS, Plan
from optimizer.plan.explain import cost_text, counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, GAP, LINE = 3.3, 0.8, 0.2  # inches: a box, the room for arrows, a line of text
SUFFIXES = (".svg", ".png")
INK, PAPER, BAR, FREE = "#1f2933", "#ffffff", "#2a7f9e", "#f2efe6"


def draw(plan: Plan, path: Path) -> None:
    """Write the picture as SVG or PNG, by the suffix."""
    if path.suffix.lower() not in SUFFIXES:
        raise HeddleError(f"{path}: a picture is .svg or .png; change the suffix")
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": plan.fingerprint(), "svg.fonttype": "none", "font.size": 9}):
        metadata: dict[str, Any] = {"Date": None} if path.suffix.lower() == ".svg" else {}
        figure(plan).savefig(path, metadata=metadata, dpi=110)


def figure(plan: Plan) -> Figure:
    """The picture as a matplotlib figure."""
    from matplotlib.figure import Figure

    columns = _columns(boxes_of(plan))
    height = max(1.0, *map(_stack, columns)) + 1.4
    width = max(len(columns) * (WIDTH + GAP) + 1.0, 7.5)
    drawn = Figure(figsize=(width, height), facecolor=PAPER)
    axes = drawn.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.axis("off")
    axes.text(0.2, height - 0.45, _title(plan), fontsize=13, color=INK, weight="bold")
    axes.text(0.2, height - 0.6, _subtitle(plan), fontsize=9.5, color=INK, va="top")
    _boxes(axes, columns, height - 1.1)
    return drawn


def _columns(boxes: Sequence[Box]) -> list[list[Box]]:
    depth = max((box.depth for box in boxes), default=0)
    return [[box for box in boxes if box.depth == level] for level in range(depth + 1)]


def _stack(column: Sequence[Box]) -> float:
    return sum(_height(box) + LINE for box in column)


def _height(box: Box) -> float:
    return (len(box.lines) + 2) * LINE + 0.1


def _boxes(axes: Axes, columns: list[list[Box]], top: float) -> None:
    """Draw the columns, each in the middle, and the arrows into each from the one before."""
    axes.text(0.15, top / 2, "events", fontsize=10, color=INK, va="center", weight="bold")
    exits = {EVENTS: (0.85, top / 2)}
    for level, column in enumerate(columns):
        left = 1.4 + level * (WIDTH + GAP)
        y = top / 2 + _stack(column) / 2
        for box in sorted(column, key=lambda box: -exits.get(box.feed, exits[EVENTS])[1]):
            height = _height(box)
            y -= height
            _box(axes, box, left, y, height)
            _arrow(axes, exits.get(box.feed, exits[EVENTS]), (left, y + height / 2))
            exits[box.id] = (left + WIDTH, y + height / 2)
            y -= LINE


def _box(axes: Axes, box: Box, left: float, bottom: float, height: float) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    shape = FancyBboxPatch(
        (left, bottom),
        WIDTH,
        height,
        boxstyle="round,pad=0,rounding_size=0.06",
        facecolor=PAPER if box.queries else FREE,
        edgecolor=INK,
        linewidth=1,
        linestyle="-" if box.queries else "--",
        zorder=2,
    )
    axes.add_patch(shape)
    top = bottom + height - LINE
    axes.text(left + 0.1, top, box.title, fontsize=9.5, weight="bold", color=INK, va="center", zorder=3)
    for number, line in enumerate(box.lines, 1):
        axes.text(left + 0.1, top - number * LINE, line, fontsize=8.5, color=INK, va="center", zorder=3)
    axes.add_patch(Rectangle((left + 0.1, bottom + 0.07), (WIDTH - 0.2) * box.share, 0.07, color=BAR, zorder=3))


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    from matplotlib.patches import FancyArrowPatch

    arrow = FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=9, color=INK, linewidth=0.8, zorder=1)
    axes.add_patch(arrow)


def _title(plan: Plan) -> str:
    name = plan.stream or "in-memory windows"
    queries = counted(sum(len(tree.queries) for tree in plan.trees))
    return f"{name}: {queries} in {len(plan.trees):,} trees by {plan.strategy}"


def _subtitle(plan: Plan) -> str:
    planned, alone, together = map(cost_text, (plan.cost, plan.costs.no_share, plan.costs.shared))
    return (
        f"cost {planned}, {plan.saving:z.1%} below no_share ({alone}); one shared tree {together}\n"
        "bars: share of the plan's cost; dashed: answers no query"
    )
