"""What a plan has to do, parted as calibration wants it: the papers' operations, and what they do not count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from optimizer.algebra.techniques import BLOCK
from optimizer.plan.cost import omega_of, tree_cost
from optimizer.plan.definition import Plan, Tree

FINAL = "final."  # before a technique's name


@dataclass(frozen=True)
class Operations:
    """Operations, of a second of a plan or of a whole run; and what is done for every tree, slice and answer."""

    partials: float
    finals: Mapping[str, float] = field(default_factory=dict)  # by technique
    handled: Mapping[str, float] = field(default_factory=dict)  # slices and answers, in columns or step by step
    trees: int = 0  # in every batch

    @property
    def total(self) -> float:
        """The papers' operations: what a plan's cost counts."""
        return self.partials + sum(self.finals.values())

    def times(self, factor: float) -> Operations:
        """So many times as many."""
        finals, handled = ({name: count * factor for name, count in d.items()} for d in (self.finals, self.handled))
        return replace(self, partials=self.partials * factor, finals=finals, handled=handled)

    def priced(self, batches: float = 1.0) -> dict[str, float]:
        """Everything that has a price, by its name, in a run of so many batches; none is an endless run."""
        finals = {f"{FINAL}{name}": count for name, count in self.finals.items()}
        fixed = {"tree": self.trees * batches, "batch": batches, "run": min(batches, 1.0)}
        return {"partial": self.partials, **finals, **self.handled, **fixed}


def operations_of(plan: Plan) -> Operations:
    """What a plan does in a second at its rate; the total is its cost."""
    finals: dict[str, float] = defaultdict(float)
    handled: dict[str, float] = defaultdict(float)
    trees = {tree.id: tree for tree in plan.trees}
    total = sum(tree_cost(tree, trees.get(tree.feed), plan.traffic) for tree in plan.trees)
    for tree in plan.trees:
        for technique, operations, slices, answers in _passes(tree, plan):
            how = "columns" if technique == BLOCK else "steps"
            finals[technique] += operations
            handled[f"slice.{how}"] += slices
            handled[f"answer.{how}"] += answers
    return Operations(max(total - sum(finals.values()), 0.0), dict(finals), dict(handled), len(plan.trees))


def operations_for(plan: Plan, events: int) -> Operations:
    """What a plan does for so many events."""
    return operations_of(plan).times(events / plan.rate)


def _passes(tree: Tree, plan: Plan) -> Iterator[tuple[str, float, float, float]]:
    """Of every measure that the tree answers: the technique, its operations, slices and answers in a second."""
    rows, rate = tree.windows.rows, float(tree.edge_rate)
    scale = plan.traffic.keys_of(tree.group_by, rows) * plan.traffic.ticks_per_second(rows)
    for demand in tree.demands:
        if demand.technique:
            answers = float((1.0 / demand.windows.slide).sum())
            yield demand.technique, scale * rate * omega_of(demand, rate), scale * rate, scale * answers
