"""What a run did, in numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from jobs.cpu_meter import CpuMeter
from optimizer.plan import Plan

COUNTED = ("events", "results", "late", "windows_missed", "without_time")
LISTED = 1000  # batches whose seconds are kept one by one


@dataclass
class RunReport:
    """Counts of a run, its cost, and per tree what was estimated and what was counted."""

    stream: str = ""
    plan: str = ""
    lane: str = ""
    batches: int = 0
    events: int = 0
    results: int = 0
    late: int = 0
    windows_missed: int = 0
    without_time: int = 0
    estimated_cost: float = 0.0
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    step_seconds: dict[str, float] = field(default_factory=dict)
    batch_seconds: list[float] = field(default_factory=list)
    trees: dict[str, dict[str, Any]] = field(default_factory=dict)
    unshared: dict[str, int] = field(default_factory=dict)  # results of the queries that plain Spark answers
    notes: list[str] = field(default_factory=list)  # what a reader should know beside the numbers

    def add(self, counts: dict[str, Any], seconds: float) -> None:
        """Add a batch (or a closing, which brings no events)."""
        self.batches += counts["events"] > 0
        for name in COUNTED:
            setattr(self, name, getattr(self, name) + counts[name])
        for name in ("partials", "operations"):
            for tree, count in counts[name].items():
                held = self.trees.setdefault(tree, {"partials": 0, "operations": 0})
                held[name] += count
        for query, count in counts["unshared"].items():
            self.unshared[query] = self.unshared.get(query, 0) + count
        for step, spent in counts["seconds"].items():
            self.step_seconds[step] = self.step_seconds.get(step, 0.0) + spent
        self.batch_seconds = [*self.batch_seconds, round(seconds, 3)][-LISTED:]

    def finish(self, plan: Plan, lane: str, meter: CpuMeter) -> None:
        """Close the books. A plan's cost is operations per second at its rate: the events tell how many seconds."""
        self.stream, self.plan, self.lane = plan.stream, plan.fingerprint(), lane
        self.estimated_cost = plan.cost
        self.unshared = {query: self.unshared.get(query, 0) for query in (*plan.unshared, *self.unshared)}
        self.wall_seconds, self.cpu_seconds = round(meter.wall_seconds, 3), round(meter.cpu_seconds, 3)
        self.step_seconds = {step: round(spent, 3) for step, spent in self.step_seconds.items()}
        for tree in plan.trees:
            held = self.trees.setdefault(tree.id, {"partials": 0, "operations": 0})
            held |= {
                "estimated_operations": round(tree.cost * self.events / plan.rate),
                "estimated_cost": tree.cost,
                "queries": len(tree.queries),
                "technique": tree.technique,
            }

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON takes it."""
        return asdict(self)
