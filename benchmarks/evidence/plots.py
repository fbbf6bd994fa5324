"""A figure as an SVG file that does not change while its numbers do not."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("svg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from benchmarks.evidence.figure import Figure

STYLE = {
    "svg.hashsalt": "heddle",
    "svg.fonttype": "none",
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
MARKS = "os^vDP*X<>"
FEW = 8  # places along an axis that are all written out


def draw_figure(figure: Figure, folder: Path) -> Path:
    """Draw a line for every series, or a bar where each is one point, and return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{figure.name}.svg"
    with mpl.rc_context(STYLE):
        canvas, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
        draw = _draw_bars if all(len(line) == 1 for line in figure.points.values()) else _draw_lines
        draw(axes, figure)
        axes.grid(alpha=0.3, linewidth=0.5)
        canvas.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(canvas)
    return path


def _draw_bars(axes: Axes, figure: Figure) -> None:
    axes.barh(list(figure.points), [line[0][1] for line in figure.points.values()], height=0.6)
    axes.invert_yaxis()  # the first series is on top
    axes.set_xlabel(f"{figure.y}, {figure.x}")


def _draw_lines(axes: Axes, figure: Figure) -> None:
    for mark, (name, line) in zip(MARKS * len(figure.points), figure.points.items(), strict=False):
        axes.plot([x for x, _ in line], [y for _, y in line], marker=mark, markersize=4, linewidth=1.2, label=name)
    if figure.log_x:
        axes.set_xscale("symlog" if any(x <= 0 for line in figure.points.values() for x, _ in line) else "log")
        places = sorted({x for line in figure.points.values() for x, _ in line})
        if len(places) <= FEW:
            axes.set_xticks(places, [f"{x:,.4g}" for x in places])
            axes.minorticks_off()
    if figure.log_y:
        axes.set_yscale("log")
    axes.set_xlabel(figure.x)
    axes.set_ylabel(figure.y)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
