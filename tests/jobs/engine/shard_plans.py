"""Plans whose predicates are evaluated in shards, or not, whatever the estimate says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from optimizer.plan.definition import EVENTS, Curve, Measure, Plan, Shards, Tree
from optimizer.planning.recent import Passing

CHEAP, DEAR = 0.1, 10.0  # shards per event


def forced(plan: Plan, shards: bool = True) -> Plan:
    """The plan, with shards wherever there are predicates; or nowhere."""
    return replace(plan, trees=tuple(_forced(tree, CHEAP if shards else DEAR) for tree in plan.trees))


def _forced(tree: Tree, per_event: float) -> Tree:
    wheres = {measure.where for measure in tree.measures} - {""}
    if tree.feed != EVENTS or not wheres:
        return tree
    return replace(tree, shards=Shards(len(wheres), 1, 1.0, 2.0, per_event, 1.0))


@dataclass(frozen=True)
class Imagined:
    """Recent events that make every roll-up pay, and shards or not."""

    shards: float

    def keys(self, group_by: tuple[str, ...], slide: int) -> float:
        """Hardly any."""
        return 1e-3

    def active(self, group_by: tuple[str, ...], rate: float) -> Curve:
        """Hardly any."""
        return ((1.0, 1e-3),)

    def file_events(self) -> float:
        return 0.0

    def share(self, where: str) -> float:
        """All of them pass."""
        return 1.0

    def entries(self, measure: Measure, group_by: tuple[str, ...], slide: int) -> float:
        """Values repeat."""
        return 0.0

    def passing(self, tree: Tree, wheres: Sequence[str]) -> Passing:
        """All of them pass, into so many shards."""
        return Passing(1.0, self.shards, dict.fromkeys(wheres, 1.0), dict.fromkeys(wheres, self.shards))
