"""The operations of a plan, parted as calibration wants them: those that feed trees, and finals by technique."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from optimizer.plan import Plan, Tree
from optimizer.plan_cost import omega_of, tree_cost


@dataclass(frozen=True)
class Operations:
    """Operations, of a second of a plan or of a whole run."""

    partials: float
    finals: Mapping[str, float] = field(default_factory=dict)  # by technique

    @property
    def total(self) -> float:
        """All of them: what a plan's cost counts."""
        return self.partials + sum(self.finals.values())

    def times(self, factor: float) -> Operations:
        """So many times as many."""
        return Operations(self.partials * factor, {name: count * factor for name, count in self.finals.items()})


def operations_of(plan: Plan) -> Operations:
    """What a plan does in a second at its rate; the total is its cost."""
    finals: dict[str, float] = {}
    total = 0.0
    trees = {tree.id: tree for tree in plan.trees}
    for tree in plan.trees:
        total += tree_cost(tree, trees.get(tree.feed), plan.traffic)
        for technique, count in _finals(tree, plan).items():
            finals[technique] = finals.get(technique, 0.0) + count
    return Operations(max(total - sum(finals.values()), 0.0), finals)


def operations_for(plan: Plan, events: int) -> Operations:
    """What a plan does for so many events."""
    return operations_of(plan).times(events / plan.rate)


def _finals(tree: Tree, plan: Plan) -> dict[str, float]:
    rows = tree.windows.rows
    scale = plan.traffic.keys_of(tree.group_by, rows) * plan.traffic.ticks_per_second(rows) * float(tree.edge_rate)
    found: dict[str, float] = {}
    for demand in tree.demands:
        if demand.technique:
            found[demand.technique] = found.get(demand.technique, 0.0) + scale * omega_of(demand, float(tree.edge_rate))
    return found
