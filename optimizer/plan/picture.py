"""A plan as a picture: trees as boxes below the events, and inside each the trees that it feeds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan
from optimizer.plan.explain import cost_text, counted
from optimizer.plan.layout import Costs, Place, Sizes, box_trees, lay_out
from optimizer.plan.prices import Prices

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 10.0  # inches
INCHES = Sizes(narrowest=2.9, line=0.2, letter=0.068, pad=0.12, gap=0.14)
MARGIN, HEAD, STREAM = 0.2, 0.95, 0.34  # inches: around, of title and subtitle, of the events' bar
SUFFIXES = (".svg", ".png")
INK, PAPER, BAR, FREE, RAISED = "#1f2933", "#ffffff", "#2a7f9e", "#f2efe6", "#eef4f7"


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
    drawn = Figure(figsize=(WIDTH, height), facecolor=PAPER)
    axes = drawn.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(height, 0)  # y grows downwards, as in the layout
    axes.axis("off")
    axes.text(MARGIN, 0.35, _title(plan), fontsize=13, color=INK, weight="bold", va="center")
    axes.text(MARGIN, 0.53, _subtitle(plan, costs), fontsize=9, color=INK, va="top")
    _draw_events(axes, plan)
    for place in places:
        _draw_box(axes, place)
    return drawn


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
