"""Bar charts of runs: costs of the plans that a replan chose from, and estimated beside measured throughput."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, BAR, OTHER = "#1f2933", "#2a7f9e", "#e0a030"


@dataclass(frozen=True)
class Bars:
    """One run: its strategy and technique, and its two normalised throughputs."""

    strategy: str
    technique: str
    estimated: float
    measured: float


def cost_chart(costs: Mapping[str, float], unit: str) -> bytes:
    """Draw a bar per candidate as SVG, the cheapest first."""
    figure = _figure(4.0 + 0.35 * len(costs))
    axes = figure.add_subplot()
    ordered = sorted(costs.items(), key=lambda item: item[1])
    names, values = [name for name, _ in ordered], [value for _, value in ordered]
    axes.barh(range(len(names)), values, color=BAR)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel(f"estimated cost, {unit}")
    return _svg(figure)


def throughput_chart(bars: Sequence[Bars]) -> bytes:
    """Draw two panels as SVG, per technique and per strategy: the mean of estimated and of measured throughput."""
    techniques = _means(bars, lambda bar: bar.technique)
    strategies = _means(bars, lambda bar: bar.strategy)
    figure = _figure(3.2 + 0.5 * (len(techniques) + len(strategies)))
    upper, lower = figure.subplots(2, 1, height_ratios=[len(techniques) + 1, len(strategies) + 1])
    _pairs(upper, "technique", techniques)
    _pairs(lower, "strategy", strategies)
    upper.legend(loc="best", frameon=False)
    lower.set_xlabel("throughput as a multiple of the mean")
    return _svg(figure)


def _means(bars: Sequence[Bars], name_of: Any) -> dict[str, tuple[float, float]]:
    groups: dict[str, list[Bars]] = {}
    for bar in bars:
        groups.setdefault(name_of(bar) or "none", []).append(bar)
    return {
        name: (sum(b.estimated for b in group) / len(group), sum(b.measured for b in group) / len(group))
        for name, group in sorted(groups.items())
    }


def _pairs(axes: Axes, title: str, means: Mapping[str, tuple[float, float]]) -> None:
    places = range(len(means))
    axes.barh([place - 0.2 for place in places], [e for e, _ in means.values()], 0.38, color=OTHER, label="estimated")
    axes.barh([place + 0.2 for place in places], [m for _, m in means.values()], 0.38, color=BAR, label="measured")
    axes.set_yticks(places, list(means))
    axes.invert_yaxis()
    axes.set_title(f"per {title}", loc="left", color=INK)


def _figure(height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(8.0, height), layout="constrained")


def _svg(figure: Figure) -> bytes:
    from matplotlib import rc_context

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "heddle"}):
        sink = io.BytesIO()
        figure.savefig(sink, format="svg", metadata={"Date": None})
        return sink.getvalue()
