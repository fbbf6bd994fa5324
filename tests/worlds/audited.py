"""A small stream whose late events miss windows, evaluated without Spark, batch by batch."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.host.storage import Storage
from jobs.runs.in_process import evaluate_local
from jobs.runs.report import RunReport
from jobs.runs.request import Options
from optimizer.planning.stream import plan_stream
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import STREAM, Folder, add_batch, write_stream

QUERIES = [
    {
        "id": "total",
        "stream": STREAM,
        "select": "sum(n)",
        "group_by": ["k"],
        "range": "6 seconds",
        "slide": "2 seconds",
    },
    {
        "id": "level",
        "stream": STREAM,
        "select": ["min(x) AS low", "avg(x) AS mean", "max(x) AS high", "count(x) AS there"],
        "group_by": ["k"],
        "range": "5 seconds",
        "slide": "3 seconds",
    },
    {"id": "newest", "stream": STREAM, "select": "last(n)", "where": "n > 3", "range": "4 seconds"},
    {
        "id": "lately",
        "stream": STREAM,
        "select": ["sum(n) AS total", "max(x) AS high"],
        "group_by": ["k"],
        "range": "8 rows",
        "slide": "3 rows",
    },
]


@dataclass(frozen=True)
class AuditedWorld(Folder):
    """A stream `events`, evaluated into one warehouse."""

    @property
    def warehouse(self) -> str:
        return str(self.folder / "warehouse")

    @property
    def storage(self) -> Storage:
        return stream_storage(self.warehouse, STREAM)

    def arrive(self, number: int, seed: int, late: bool = True) -> None:
        """One more file: ten seconds of events, some of them far too late, some at the same time."""
        pick = random.Random(seed)
        times = [number * 10 + pick.randrange(20) / 2 for _ in range(30)]
        times += [max(0.0, number * 10 - 17 + pick.randrange(10)) for _ in range(5 if late else 0)]
        table = pa.table(
            {
                "ts": pa.array([int(time * SECOND) for time in times]).cast(pa.timestamp("us", "UTC")),
                "k": [pick.choice(["a", "b", None]) for _ in times],
                "n": pa.array([pick.choice([None, *range(9)]) for _ in times], pa.int64()),
                "x": pa.array([pick.choice([None, float("nan"), -0.0, 0.1, 2.5, 1e6]) for _ in times], pa.float64()),
            }
        )
        add_batch(self.folder, number, table)

    def evaluate(self, files_per_batch: int = 0) -> RunReport:
        """Evaluate what has arrived."""
        plan = plan_stream(self.catalog, STREAM, 3.0, "shared", technique="auto")
        return evaluate_local(self.catalog, plan, self.warehouse, Options(files_per_batch=files_per_batch))


def make_world(folder: Path) -> AuditedWorld:
    """An empty stream and its catalog."""
    return AuditedWorld(folder, write_stream(folder, STREAM, QUERIES, "1 second"))
