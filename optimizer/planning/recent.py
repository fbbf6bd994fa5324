"""What planning asks of recent events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from optimizer.plan.definition import Tree


@dataclass(frozen=True)
class Passing:
    """Per recent event: those that pass any of some predicates, the shards they make, and both by predicate."""

    events: float
    shards: float
    events_of: dict[str, float]
    shards_of: dict[str, float]


class Recent(Protocol):
    """Events that came lately, asked by the planner."""

    def keys(self, group_by: tuple[str, ...], slide: int) -> float:
        """How many groups are active in a slice of this length, on average."""

    def share(self, where: str) -> float:
        """The share of events that pass a predicate; all pass ""."""

    def passing(self, tree: Tree, wheres: Sequence[str]) -> Passing:
        """How the events that pass the predicates ("" passes all) fall into the tree's slices."""
