"""What changed from one plan to the next: queries that joined, left or moved to another tree, trees, and the cost."""

from __future__ import annotations

from dataclasses import dataclass

from optimizer.plan.definition import Plan, Tree
from optimizer.plan.prices import Prices, estimate_milliseconds

NAMED = 20  # queries that are named


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
