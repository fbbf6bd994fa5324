"""What the first run has done, from the reports and verdicts that its steps have left."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heddle.demo.world import STREAM


@dataclass(frozen=True)
class Outcome:
    """Counts and CPU seconds of the large stream, beside what plain Spark took for a part of it."""

    queries: dict[str, int]  # by stream
    trees: dict[str, int]
    saving: float  # of the plan's cost, against one tree per query
    reports: list[dict[str, Any]]  # of the large stream's evaluations
    verdicts: list[dict[str, Any]]  # of all audits
    peer: dict[str, Any]  # heddle.demo.plain_spark.measure

    @property
    def events(self) -> int:
        """Events of the large stream."""
        return sum(report["events"] for report in self.reports)

    @property
    def batches(self) -> int:
        """Micro-batches of the large stream."""
        return sum(report["batches"] for report in self.reports)

    @property
    def events_per_second(self) -> float:
        """Events by the clock on the wall, from the second batch of a run on: Spark and its workers have started."""
        later = [report for report in self.reports if report["batches"] > 1]
        if not later:
            return self.events / sum(sum(report["batch_seconds"]) for report in self.reports)
        events = sum(report["events"] * (1 - 1 / report["batches"]) for report in later)
        return float(events / sum(sum(report["batch_seconds"][1:]) for report in later))

    @property
    def cpu_seconds(self) -> float:
        """What the evaluations took, everything but Spark's start counted."""
        return float(sum(report["cpu_seconds"] for report in self.reports))

    @property
    def task_seconds(self) -> float:
        """What the engine's own tasks took, which is what is estimated."""
        return float(sum(sum(report["step_seconds"].values()) for report in self.reports))

    @property
    def estimated_seconds(self) -> float | None:
        """What the engine's tasks should have taken by this machine's prices; None where it has none."""
        estimates = [report["estimated_seconds"] for report in self.reports]
        return None if None in estimates else float(sum(estimates))

    @property
    def extrapolated_seconds(self) -> float:
        """What plain Spark would take for all queries over all events: in proportion to what it took for a few."""
        share = len(self.peer["queries"]) * self.peer["events"]
        return float(self.peer["cpu_seconds"] * self.queries[STREAM] * self.events / share)


def read_outcome(home: Path) -> Outcome:
    """Read what the steps of the first run have left."""
    from jobs.host.settings import settings
    from jobs.tracking.registry import champion
    from jobs.tracking.store import open_store
    from optimizer.catalog.read.load import load_catalog

    catalog, store = load_catalog(home / "catalog"), open_store(settings({"HEDDLE_HOME": str(home)}))
    versions = {stream: champion(store, stream) for stream in catalog.streams}
    found = {stream: version for stream, version in versions.items() if version is not None}
    return Outcome(
        {stream: len(set(catalog.of_stream(stream).statements.to_pylist())) for stream in catalog.streams},
        {stream: version.trees for stream, version in found.items()},
        found[STREAM].saving,
        _load(home, f"{STREAM}.report"),
        _load(home, "*.verdict"),
        json.loads((home / "plain_spark.json").read_text()),
    )


def _load(home: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((home / "runs").glob(f"*/{name}.json"))]
