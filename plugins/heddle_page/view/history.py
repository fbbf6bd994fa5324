"""The plans of a stream over time: what changed from one to the next, and two charts.

Queries joined, left or moved to another tree; trees and the cost changed. The charts are places for their marks:
savings over the versions, and estimated beside measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.plan.definition import Plan, Tree
from optimizer.plan.prices import Prices, estimate_milliseconds
from plugins.heddle_page.read.history import Measurement, PlanVersion

NAMED = 20  # queries that are named
WIDTH, HEIGHT = 640, 150
LEFT, TOP = 44, 12
NAME = 32  # pixels of a version's name
BAR, BARS = 12, 12  # pixels of a bar; runs that are drawn


@dataclass(frozen=True)
class PlanFigures:
    """A plan in the figures that are laid side by side."""

    version: int
    strategy: str
    queries: int
    trees: int
    cost: float  # operations per second
    milliseconds: float | None  # per 1,000 events


@dataclass(frozen=True)
class PlanChange:
    """Two plans side by side."""

    before: PlanFigures
    after: PlanFigures
    joined: list[str]
    left: list[str]
    moved: list[str]  # queries that share their tree with others than before


def compare_plans(before: Plan, after: Plan, versions: tuple[int, int], prices: Prices | None = None) -> PlanChange:
    """Lay two plans side by side; a query has moved when its tree is not the one that took most of its old tree."""
    old, new = _homes(before), _homes(after)
    heirs = {tree.id: _heir(tree, new) for tree in before.trees}
    moved = [query for query in sorted(old.keys() & new.keys()) if heirs[old[query]] != new[query]]
    return PlanChange(
        _figures(before, versions[0], prices),
        _figures(after, versions[1], prices),
        sorted(new.keys() - old.keys()),
        sorted(old.keys() - new.keys()),
        moved,
    )


def named(queries: list[str]) -> str:
    """Name a few queries and count the rest.

    >>> named(["a", "b"]), named([])
    ('a, b', 'none')
    """
    more = f" and {len(queries) - NAMED} more" if len(queries) > NAMED else ""
    return ", ".join(queries[:NAMED]) + more if queries else "none"


def _homes(plan: Plan) -> dict[str, str]:
    return {str(query): tree.id for tree in plan.trees for query in tree.queries}


def _heir(tree: Tree, homes: dict[str, str]) -> str:
    """Return the tree of another plan that has most of this tree's queries; "" where none has any."""
    counts: dict[str, int] = {}
    for query in tree.queries:
        home = homes.get(str(query))
        if home is not None:
            counts[home] = counts.get(home, 0) + 1
    return max(counts, key=lambda home: (counts[home], home)) if counts else ""


def _figures(plan: Plan, version: int, prices: Prices | None) -> PlanFigures:
    queries = sum(len(tree.queries) for tree in plan.trees)
    return PlanFigures(version, plan.strategy, queries, len(plan.trees), plan.cost, estimate_milliseconds(plan, prices))


@dataclass(frozen=True)
class Point:
    """A version in the chart of savings."""

    x: float
    y: float
    planned: PlanVersion
    label: str  # "" where names would run into each other


@dataclass(frozen=True)
class SavingChart:
    """Points from the oldest to the newest, the line through them, and the grid's shares of the height."""

    points: list[Point]
    line: str
    grid: list[tuple[float, str]]


@dataclass(frozen=True)
class Pair:
    """A run's two bars."""

    y: int
    estimated: float
    measured: float
    run: Measurement


@dataclass(frozen=True)
class DeviationChart:
    """Bars of the last runs, the newest on top."""

    pairs: list[Pair]
    height: int


def saving_chart(history: Sequence[PlanVersion]) -> SavingChart:
    """Place the savings of every version against no_share; the scale is whole per cent, from 0 or the worst to 100."""
    ordered = list(reversed(history))
    floor = min([0.0, *(version.saving for version in ordered)])
    step = (WIDTH - LEFT - 24) / max(len(ordered) - 1, 1)

    def height(saving: float) -> float:
        return round(TOP + (HEIGHT - 2 * TOP) * (1 - saving) / (1 - floor), 1)

    stride = -(-NAME // max(int(step), 1))  # versions from one name to the next
    points = [
        Point(
            round(LEFT + 12 + i * step, 1), height(version.saving), version, "" if i % stride else f"v{version.number}"
        )
        for i, version in enumerate(ordered)
    ]
    line = " ".join(f"{point.x},{point.y}" for point in points)
    return SavingChart(points, line, [(height(share), f"{share:.0%}") for share in (0.0, 0.5, 1.0)])


def deviation_chart(runs: Sequence[Measurement]) -> DeviationChart:
    """Place both costs of every run, as shares of the longest bar."""
    compared = [run for run in runs if run.deviation is not None][:BARS]  # others have no estimate to show
    longest = max([max(run.estimated or 0.0, run.milliseconds or 0.0) for run in compared], default=1.0)
    width = WIDTH - 200
    pairs = [
        Pair(
            i * (2 * BAR + 14),
            (run.estimated or 0) / longest * width,
            (run.milliseconds or 0) / longest * width,
            run,
        )
        for i, run in enumerate(compared)
    ]
    return DeviationChart(pairs, len(pairs) * (2 * BAR + 14))
