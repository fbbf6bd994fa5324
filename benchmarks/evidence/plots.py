"""A figure as an SVG file that does not change while its numbers do not."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("svg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from benchmarks.evidence.figure import Figure

MARKS = "os^vDP*X<>"
COLORS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c564b", "#7f7f7f", "#bcbd22", "#17becf"]
STYLE = {
    "svg.hashsalt": "heddle",
    "svg.fonttype": "none",
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": mpl.cycler(color=COLORS),
}
NEAR = 1.6  # times the place before: two numbers would overlap
MOST_LEVEL = 4  # labels side by side
FEW = 8  # places along an axis that are all written out


def draw_figure(figure: Figure, folder: Path) -> Path:
    """Draw a line for every series, or a bar where each is one point, and return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{figure.name}.svg"
    with mpl.rc_context(STYLE):
        canvas, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
        if figure.labels:
            _draw_groups(axes, figure)
        elif figure.joined and all(len(line) == 1 for line in figure.points.values()):
            _draw_bars(axes, figure)
        else:
            _draw_lines(axes, figure)
        axes.grid(alpha=0.3, linewidth=0.5)
        canvas.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(canvas)
    return path


def _draw_bars(axes: Axes, figure: Figure) -> None:
    axes.barh(list(figure.points), [line[0][1] for line in figure.points.values()], height=0.6)
    axes.invert_yaxis()  # the first series is on top
    axes.set_xlabel(figure.y)


def _draw_groups(axes: Axes, figure: Figure) -> None:
    width = 0.8 / len(figure.points)
    for number, (name, line) in enumerate(figure.points.items()):
        shift = (number - (len(figure.points) - 1) / 2) * width
        axes.bar([x + shift for x, _ in line], [y for _, y in line], width, label=name)
    slope = {"rotation": 30, "ha": "right"} if len(figure.labels) > MOST_LEVEL else {}
    axes.set_xticks(range(len(figure.labels)), figure.labels, **slope)
    if figure.log_y:
        axes.set_yscale("log")
    axes.set_ylabel(figure.y)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _draw_lines(axes: Axes, figure: Figure) -> None:
    for mark, (name, line) in zip(MARKS * len(figure.points), figure.points.items(), strict=False):
        width = 1.2 if figure.joined else 0.0
        axes.plot([x for x, _ in line], [y for _, y in line], marker=mark, markersize=4, linewidth=width, label=name)
    if paper := [reading.at for reading in figure.readings if reading.at]:
        x, y = zip(*paper, strict=True)
        axes.plot(x, y, linestyle="", marker="*", markersize=11, color="black", fillstyle="none", label="the paper's")
    if figure.log_x:
        axes.set_xscale("symlog" if any(x <= 0 for line in figure.points.values() for x, _ in line) else "log")
        places = sorted({x for line in figure.points.values() for x, _ in line})
        if len(places) <= FEW:
            near = [before * NEAR > x for before, x in zip([0.0, *places], places, strict=False)]
            axes.set_xticks(places, ["" if hide else f"{x:,.10g}" for x, hide in zip(places, near, strict=True)])
            axes.minorticks_off()
    if figure.log_y:
        axes.set_yscale("log")
    axes.set_xlabel(figure.x)
    axes.set_ylabel(figure.y)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
