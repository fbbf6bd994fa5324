"""What a planner needs to know of recent events, whoever reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from optimizer.plan.definition import Curve, Measure, Tree


@dataclass(frozen=True)
class Passing:
    """Shares of the recent events: those that pass any of some predicates, the shards they make, both by predicate."""

    events: float
    shards: float
    events_of: dict[str, float]
    shards_of: dict[str, float]


class Recent(Protocol):
    """What recent events tell a planner of keys and predicates."""

    def keys(self, group_by: tuple[str, ...], slide: int) -> float:
        """Return how many groups are active in a slice of this length, on average."""

    def active(self, group_by: tuple[str, ...], rate: float) -> Curve:
        """Return how many groups have an event in spans of time, at so many events per second."""

    def share(self, where: str) -> float:
        """Return the share of events that pass a predicate; all pass ""."""

    def entries(self, measure: Measure, group_by: tuple[str, ...], slide: int) -> float:
        """Return how many different values slices of this length hold, of all groups, for every event that came; 1
        where nobody knows."""

    def passing(self, tree: Tree, wheres: Sequence[str]) -> Passing:
        """Count how the events that pass the predicates ("" passes all) fall into the tree's slices."""
