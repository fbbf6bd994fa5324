"""A platform: its settings, a small catalog, plans of it and runs as MLflow has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from jobs.host.settings import Settings, settings
from jobs.tracking.registry import Version, champion, decide, plan_of, promote, register
from jobs.tracking.replans import Replan, conclude, log_replan
from jobs.tracking.store import Store
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.plan.definition import Plan
from optimizer.planning.stream import plan_stream

QUERIES = """
streams:
  readings: {source: {format: parquet, path: data}, time: ts, lateness: 1 second}
queries:
  - {id: peak, stream: readings, select: max(x), group_by: [machine], range: 20 seconds, slide: 5 seconds}
  - {id: wider, stream: readings, select: max(x), group_by: [machine], range: 15 seconds, slide: 10 seconds}
  - {id: mean, stream: readings, select: avg(x), group_by: [machine], range: 30 seconds, slide: 4 seconds}
"""


def home(folder: Path) -> Settings:
    """Settings of a platform below a folder, with a catalog in it."""
    (folder / "catalog").mkdir(parents=True, exist_ok=True)
    (folder / "catalog" / "queries.yaml").write_text(QUERIES)
    return settings({"HEDDLE_HOME": str(folder)})


def catalog_of(place: Settings) -> Catalog:
    return load_catalog(place.catalog)


def planned(catalog: Catalog, strategy: str = "weave_share", technique: str = "two_stacks_block") -> Plan:
    return plan_stream(catalog, "readings", 5000.0, strategy, technique)


def replanned(store: Store, catalog: Catalog, plan: Plan, key: str = "") -> tuple[Version, bool]:
    """A replan as the DAG does it: log, register, promote when better."""
    now = champion(store, plan.stream)
    decision = decide(plan, plan_of(store, now) if now else None)
    run = log_replan(store, Replan(catalog, plan, 0.1, costs={plan.strategy: plan.cost}, key=key))
    version = register(store, plan, run)
    if decision.better:
        promote(store, version)
    conclude(store, run, plan, version, decision, decision.better)
    return version, decision.better


def report(plan: Plan, events: int = 1000, seconds: float = 0.5) -> dict[str, Any]:
    """A report as the engine gives it."""
    return {
        "batches": 2,
        "events": events,
        "results": 40,
        "late": 1,
        "windows_missed": 2,
        "wall_seconds": 2.0,
        "cpu_seconds": 3.0,
        "lane": "file",
        "step_seconds": {"read": 1.0, "feed": seconds / 2, "finals": seconds / 2},
        "trees": {tree.id: {"partials": 10, "operations": 20, "estimated_operations": 30} for tree in plan.trees},
    }


def write_events(place: Settings, number: int) -> None:
    """A minute of readings, as one more file."""
    random = np.random.default_rng(number)
    times = (np.arange(600) + 600 * number) * 100_000
    table = pa.table(
        {
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "machine": [f"m{key}" for key in random.integers(0, 3, 600)],
            "x": random.integers(0, 100, 600).astype(np.float64),
        }
    )
    pq.write_table(table, Path(place.home, "data", f"part-{number:03d}.parquet"))
