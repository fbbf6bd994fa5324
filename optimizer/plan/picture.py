"""A plan as a picture: trees as boxes, left to right from the events, an arrow from every tree to those it feeds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan
from optimizer.plan.explain import cost_text, counted
from optimizer.plan.layout import Box, Layout, Sizes, boxes_of, lay_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INCHES = Sizes(width=3.3, gap=0.8, line=0.2, frame=0.5, space=0.2, left=1.65)
HEAD = 1.1  # inches above the boxes: title and subtitle
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
    """Return the picture as a matplotlib figure."""
    from matplotlib.figure import Figure

    layout = lay_out(boxes_of(plan), INCHES)
    width, height = max(layout.width, 7.5), layout.height + HEAD
    drawn = Figure(figsize=(width, height), facecolor=PAPER)
    axes = drawn.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.axis("off")
    axes.text(0.2, height - 0.45, _title(plan), fontsize=13, color=INK, weight="bold")
    axes.text(0.2, height - 0.6, _subtitle(plan), fontsize=9.5, color=INK, va="top")
    _draw_layout(axes, layout)
    return drawn


def _draw_layout(axes: Axes, layout: Layout) -> None:
    """Draw all boxes and arrows; matplotlib's y grows upwards, the layout's downwards."""
    top = layout.height
    axes.text(0.15, top / 2, "events", fontsize=10, color=INK, va="center", weight="bold")
    for place, ((x, y), (end_x, end_y)) in zip(layout.places, layout.arrows, strict=True):
        _draw_box(axes, place.box, place.x, top - place.y - place.height, place.height)
        _draw_arrow(axes, (x, top - y), (end_x, top - end_y))


def _draw_box(axes: Axes, box: Box, left: float, bottom: float, height: float) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    shape = FancyBboxPatch(
        (left, bottom),
        INCHES.width,
        height,
        boxstyle="round,pad=0,rounding_size=0.06",
        facecolor=PAPER if box.queries else FREE,
        edgecolor=INK,
        linewidth=1,
        linestyle="-" if box.queries else "--",
        zorder=2,
    )
    axes.add_patch(shape)
    top = bottom + height - INCHES.line
    axes.text(left + 0.1, top, box.title, fontsize=9.5, weight="bold", color=INK, va="center", zorder=3)
    for number, line in enumerate(box.lines, 1):
        axes.text(left + 0.1, top - number * INCHES.line, line, fontsize=8.5, color=INK, va="center", zorder=3)
    axes.add_patch(Rectangle((left + 0.1, bottom + 0.07), (INCHES.width - 0.2) * box.share, 0.07, color=BAR, zorder=3))


def _draw_arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    from matplotlib.patches import FancyArrowPatch

    arrow = FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=9, color=INK, linewidth=0.8, zorder=1)
    axes.add_patch(arrow)


def _title(plan: Plan) -> str:
    name = plan.stream or "in-memory windows"
    queries = counted(sum(len(tree.queries) for tree in plan.trees))
    return f"{name}: {queries} in {counted(len(plan.trees), 'tree', 'trees')} by {plan.strategy}"


def _subtitle(plan: Plan) -> str:
    planned, alone, together = map(cost_text, (plan.cost, plan.costs.no_share, plan.costs.shared))
    return (
        f"cost {planned}, {plan.saving:z.1%} below one tree per query ({alone}); one tree for all {together}\n"
        "bars: share of the plan's cost; dashed: answers no query"
    )
