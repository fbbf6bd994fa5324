"""Flink SQL on the events and queries of a world, in an environment of its own, which `make evidence` makes.

Flink reads the events as CSV, which its distribution can read, Parquet not. One process serves all sizes: it is warm
before it is measured, by the CPU of its process tree.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
from pyarrow import csv

from benchmarks.engine_world import SECOND, World
from jobs.host.machine import CpuMeter
from jobs.spark.session import prepare_environment
from optimizer.catalog.model.query import Query

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-flink" / "bin" / "python"
JOB = Path(__file__).with_name("flink_job.py")
FLINK_QUERIES = 20  # are run, in one statement set; their mean stands for the others


class Flink:
    """A process that answers queries over one file of events."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def seconds(self, command: str) -> float:
        """Return the CPU seconds of a command, by all processes that Flink is."""
        with CpuMeter(self._process.pid, poll_seconds=0.05) as meter:
            self.do(command)
        return meter.cpu_seconds

    def do(self, command: str) -> None:
        """Give a command and wait for its end."""
        assert self._process.stdin
        assert self._process.stdout
        print(command, file=self._process.stdin, flush=True)
        if self._process.stdout.readline().strip() != "done":
            raise RuntimeError(f"Flink ended at: {command[:200]}")


@contextmanager
def flink(place: World) -> Iterator[Flink]:
    """Start Flink on the events of a world."""
    path = place.root / "events.csv"
    columns = pl.col("ts").dt.strftime("%Y-%m-%d %H:%M:%S%.3f"), "machine", "value"
    pl.scan_parquet(place.data / "*.parquet").select(columns).sink_csv(path, include_header=False)
    prepare_environment()  # finds Java
    process = subprocess.Popen(
        [str(PYTHON), str(JOB), str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        yield Flink(process)
    finally:
        if process.stdin:
            process.stdin.close()
        process.wait()
        path.unlink()


def by_flink(place: World, query: Query, answers: pl.DataFrame) -> float:
    """Return the CPU seconds of all queries, by those that Flink runs; compare the answers of one before."""
    queries = place.catalog.queries
    chosen = queries[:: max(1, len(queries) // FLINK_QUERIES)][:FLINK_QUERIES]
    run = f"run {json.dumps([_plain(query) for query in chosen])}"
    with flink(place) as peer:
        _compare_answers(place, peer, query, answers)
        peer.do(run)  # warms up
        fixed, some = peer.seconds("scan"), peer.seconds(run)
    return fixed + max(0.0, some - fixed) * len(queries) / len(chosen)


def _plain(query: Query) -> dict[str, object]:
    clock = query.window
    return {"aggregate": query.aggregate, "range": clock.range // SECOND, "slide": clock.slide // SECOND}


def _compare_answers(place: World, peer: Flink, query: Query, ours: pl.DataFrame) -> None:
    """Raise where Flink's answers of a query are not ours."""
    folder = place.root / "flink"
    peer.do(f"write {folder} {json.dumps(_plain(query))}")
    files = [path for path in folder.rglob("*") if path.is_file()]
    theirs = pl.concat(_read(path) for path in files)
    require_equal("Flink", ours, theirs)


def require_equal(name: str, ours: pl.DataFrame, theirs: pl.DataFrame) -> None:
    """Raise where a peer lacks one of our windows, or answers it otherwise.

    >>> ours = pl.DataFrame({"machine": ["a"], "start": [0], "answer": [1.0]})
    >>> require_equal("a peer", ours, pl.DataFrame({"machine": ["a"], "start": [0], "theirs": [2.0]}))
    Traceback (most recent call last):
    AssertionError: a peer has 1 of 1 windows, and answers are 1 apart
    """
    both = ours.join(theirs, on=["machine", "start"])
    apart = both.select((pl.col("answer") - pl.col("theirs")).abs().max()).item() or 0.0
    if len(both) != len(ours) or not apart < 1e-6:
        raise AssertionError(f"{name} has {len(both)} of {len(ours)} windows, and answers are {apart:g} apart")


def _read(path: Path) -> pl.DataFrame:
    table = csv.read_csv(path, csv.ReadOptions(column_names=["machine", "start", "theirs"]))
    return pl.DataFrame(table).with_columns(pl.col("start").cast(pl.Datetime("us")))
