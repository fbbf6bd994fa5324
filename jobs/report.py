"""What a run did, in numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from jobs.cpu_meter import CpuMeter
from optimizer.plan import Plan


@dataclass
class RunReport:
    """Counts of a run, its cost, and per tree what was estimated and what was counted."""

    batches: int = 0
    events: int = 0
    results: int = 0
    late: int = 0
    windows_missed: int = 0
    without_time: int = 0
    lane: str = ""
    estimated_cost: float = 0.0
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    batch_seconds: list[float] = field(default_factory=list)
    trees: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, counts: dict[str, Any], seconds: float) -> None:
        """Add a batch (or the closing, which brings no events)."""
        self.batches += counts["events"] > 0
        for name in ("events", "results", "late", "windows_missed", "without_time"):
            setattr(self, name, getattr(self, name) + counts[name])
        for name in ("partials", "operations"):
            for tree, count in counts[name].items():
                held = self.trees.setdefault(tree, {"partials": 0, "operations": 0})
                held[name] += count
        self.batch_seconds.append(round(seconds, 3))

    def finish(self, plan: Plan, lane: str, meter: CpuMeter) -> None:
        """Close the books."""
        self.lane = lane
        self.estimated_cost = plan.cost
        self.wall_seconds = round(meter.wall_seconds, 3)
        self.cpu_seconds = round(meter.cpu_seconds, 3)
        for tree in plan.trees:
            held = self.trees.setdefault(tree.id, {"partials": 0, "operations": 0})
            held |= {"estimated_cost": tree.cost, "queries": len(tree.queries), "technique": tree.technique}

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON takes it."""
        return asdict(self)
