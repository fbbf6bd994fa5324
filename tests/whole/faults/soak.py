"""A continuous run for as long as one likes, killed again and again; what must stay flat, and rows that must be right.

python -m tests.whole.faults.soak [--minutes 60] [--every 60] [--seed 1]

A file is a batch, and the next one arrives when a batch is committed. About every so many seconds, some process of the
run (driver, JVM, worker) gets kill -9, and a run that has ended is started again. At the end the rows are a calm run's.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np
import psutil
import pyarrow as pa

from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import Manifest, newest
from jobs.engine.warehouse.result_files import BATCH, WATERMARK
from tests.whole.faults.local_runs import evaluate
from tests.worlds.readings import EVENTS, STREAM, Readings, make_world, published
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import add_batch

# seconds: of a file's events, and by how much some are late for all their windows, whatever was closed
SPAN, LATE = 60, 300
PATIENCE = 300  # seconds without a batch


@dataclass
class Soak:
    """A world, the run over it that is killed and started again, and what was measured after each batch."""

    world: Readings
    pick: random.Random
    kill_every: float
    run: subprocess.Popen[bytes] | None = None
    arrived: int = 0
    kills: int = 0
    starts: int = 0
    seconds: list[float] = field(default_factory=list)  # of each batch
    files: list[int] = field(default_factory=list)  # in the warehouse, after each batch
    memory: list[int] = field(default_factory=list)  # of all processes, after each batch, in bytes
    cpu: list[float] = field(default_factory=list)  # of the tasks and the commit of each batch, in seconds

    @property
    def warehouse(self) -> Path:
        """Return the folder of the warehouse."""
        return self.world.folder / "soaked"

    def last(self) -> Manifest:
        """Return what is committed."""
        return newest(stream_storage(str(self.warehouse), STREAM))

    def play(self, minutes: float) -> None:
        """Let files arrive for some minutes, then let the run end what it has."""
        (self.world.folder / "plan.json").write_text(self.world.plan.to_json())
        until = time.monotonic() + 60 * minutes
        next_kill = self.next_kill()
        try:
            while time.monotonic() < until:
                self.one_batch(next_kill)
                if time.monotonic() > next_kill:
                    self.kill()
                    next_kill = self.next_kill()
            self.wait(lambda last: last.watermark == last.latest - 2 * SECOND)
            assert self.run is not None
            self.run.send_signal(signal.SIGTERM)
            assert self.run.wait(PATIENCE) == 0
        finally:
            self.end()

    def next_kill(self) -> float:
        """Return when the next process dies."""
        return time.monotonic() + self.kill_every * (0.5 + self.pick.random())

    def one_batch(self, next_kill: float) -> None:
        """Let a file arrive and wait until its batch is committed, or until it is time to kill."""
        if self.last().batch + 1 >= self.arrived:
            add_batch(self.world.folder, self.arrived, readings(self.arrived))
            self.arrived += 1
        started, life = time.monotonic(), self.starts
        self.wait(lambda last: last.batch + 1 >= self.arrived or time.monotonic() > next_kill)
        if self.last().batch + 1 >= self.arrived and life == self.starts:
            self.seconds.append(time.monotonic() - started)
            self.files.append(sum(path.is_file() for path in self.warehouse.rglob("*")))
            self.memory.append(sum(_memory(process) for process in self.processes()))
            self.cpu.append(sum(self.last().counts["seconds"].values()))

    def wait(self, is_met: Callable[[Manifest], bool]) -> None:
        """Wait until what is committed is as it shall be; start the run whenever it has ended."""
        patience = time.monotonic() + PATIENCE
        while not is_met(self.last()):
            assert time.monotonic() < patience, "no batch for minutes"
            if self.run is None or self.run.poll() is not None:
                self.start()
            time.sleep(0.02)

    def start(self) -> None:
        """Start the run, once nothing is left of the one before."""
        self.end()
        command = [sys.executable, "-m", "heddle", "evaluate", str(self.world.folder / "catalog"), "--stream", STREAM]
        command += ["--warehouse", str(self.warehouse), "--plan", str(self.world.folder / "plan.json")]
        command += ["--master", "local[2,4]", "--interval", "100 milliseconds", "--files-per-batch", "1"]
        with (self.world.folder / "said").open("ab") as said:
            self.run = subprocess.Popen(command, stdout=said, stderr=said)
        self.starts += 1

    def kill(self) -> None:
        """Kill some process of the run."""
        if processes := self.processes():
            with suppress(psutil.NoSuchProcess):
                self.pick.choice(processes).kill()
                self.kills += 1

    def processes(self) -> list[psutil.Process]:
        """Return the processes of the run that live."""
        try:
            driver = psutil.Process(self.run.pid if self.run else -1)
            return [driver, *driver.children(recursive=True)]
        except (psutil.NoSuchProcess, ValueError):
            return []

    def end(self) -> None:
        """End what is left of a run: its JVM outlives a killed driver by a moment."""
        for process in [*self.processes(), *_jvms(self.warehouse)]:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if self.run:
            self.run.wait()

    def check(self) -> str:
        """Compare all rows with a calm run's, and hold files and memory to what they were; return what was seen."""
        calm = self.world.warehouse("calm")
        evaluate(self.world, calm)
        found, expected = published(self.world, str(self.warehouse)), published(self.world, calm)
        for name, table in expected.items():
            # which batch met an event, and under which watermark, hangs on what was closed meanwhile
            columns = [column for column in table.column_names if column not in (BATCH, WATERMARK)]
            here, there = Counter(_rows(found[name], columns)), Counter(_rows(table, columns))
            only = [f"{len(rows)} only {where}, {list(rows)[:2]}" for where, rows in
                    (("here", here - there), ("in a calm run", there - here)) if rows]  # fmt: skip
            assert not only, f"{name}: rows are not those of a calm run: {'; '.join(only)}"
        early, late = halves(self.files)
        assert max(late) <= 1.5 * max(early) + 100, f"files grow: {max(early)} to {max(late)}"
        small, large = halves(self.memory)
        assert max(large) <= 1.3 * max(small) + (1 << 28), f"memory grows: {max(small)} to {max(large)}"
        cheap, dear = map(median, halves(self.cpu))
        assert dear <= 1.5 * cheap + 0.02, f"the CPU time of a batch grows: {cheap:.3f} to {dear:.3f} s"
        quick, slow = map(median, halves(self.seconds))
        rows = sum(table.num_rows for table in expected.values())
        return (
            f"{self.arrived} batches, {self.kills} kills, {self.starts} starts, {rows:,} rows equal; "
            f"second half against first: files {max(late)} / {max(early)}, "
            f"memory {max(large) >> 20} / {max(small) >> 20} MB, "
            f"of a batch in the median {dear:.3f} / {cheap:.3f} CPU s, {slow:.2f} / {quick:.2f} s"
        )


def halves(values: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
    """Return the first half of some values, and the second."""
    middle = (len(values) + 1) // 2
    return values[:middle], values[middle:]


def readings(number: int) -> pa.Table:
    """Return the events of a file. Sums are exact, and who is late does not depend on which windows were closed: before
    the third file, nothing may have been closed yet, so that no event of the first two is late."""
    draw = np.random.default_rng(number)
    times = number * SPAN * SECOND + draw.integers(0, SPAN * SECOND, EVENTS)
    times -= np.where((draw.random(EVENTS) < 0.05) & (number > 1), LATE * SECOND, 0)
    keys = np.array(["a", "b", "c", None], object)[draw.integers(0, 4, EVENTS)]
    values = draw.integers(-1000, 1000, EVENTS).astype(float)
    return pa.table({"ts": pa.array(np.sort(times)).cast(pa.timestamp("us", "UTC")), "k": pa.array(keys), "x": values})


def _rows(table: pa.Table, columns: list[str]) -> list[str]:
    return sorted(map(repr, table.select(columns).to_pylist()))


def _memory(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def _jvms(warehouse: Path) -> list[psutil.Process]:
    """Return the Java processes that some driver has started for a warehouse."""
    java = (each for each in psutil.process_iter(["name", "cmdline"]) if "java" in (each.info["name"] or ""))
    return [each for each in java if str(warehouse) in " ".join(each.info["cmdline"] or ())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--every", type=float, default=60.0, help="seconds between two kills, about")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="heddle_soak_") as folder:
        soak = Soak(make_world(Path(folder)), random.Random(options.seed), options.every)
        try:
            soak.play(options.minutes)
            sys.stdout.write(f"seed {options.seed}: {soak.check()}\n")
        except BaseException:
            sys.stdout.write((Path(folder) / "said").read_text()[-4000:])
            raise


if __name__ == "__main__":
    main()
