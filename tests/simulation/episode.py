"""One stream from its first file to its last, with everything that happens to it on the way; and what must hold."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

from expectations.publish import publish_or_quarantine
from jobs.engine.batch.run_batch import close
from jobs.engine.program.program import Program
from jobs.engine.sources.contract import File
from jobs.engine.warehouse import ledger as ledgers
from jobs.engine.warehouse.lifecycle import KEPT_MANIFESTS
from jobs.engine.warehouse.manifest import DataFile, Manifest, newest
from jobs.engine.warehouse.state_files import RetainedSlices, save_retained
from jobs.engine.work import BucketReport, FeedReport, Outcome, Work
from jobs.runs.log_batches import list_file_batches as take_batches
from jobs.runs.run import Prepared, Run, silent
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING
from tests.simulation.memory_storage import Killed, MemoryStorage, Scheduler

RANGE, SLIDE, LATENESS = 10, 5, 3
FILES = 6
PLANS = ("one", "two")
MOST_PROCESSES = 4
Rows = dict[int, list[int]]  # the events of every window, by its start


class Broken(AssertionError):  # noqa: N818 (a verdict, not an error)
    """Something that must always hold does not."""


class SimulatedRun(Run):
    """A run whose input files are the episode's."""

    def present(self, files: Sequence[File]) -> list[File]:
        """Return the files, none of which vanishes."""
        return list(files)


@dataclass
class Episode:
    """The world of one seed."""

    seed: int
    pick: random.Random = field(init=False)
    storage: MemoryStorage = field(init=False)
    events: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # by file: (number, time)
    arrived: list[File] = field(default_factory=list)
    is_locked: bool = False  # by a run: a second one is refused
    shares_lock: bool = False  # two runs at once: only manifests and records keep them apart
    seen: dict[int, list[int]] = field(default_factory=dict)  # rows that some reader has seen
    names: int = 0
    refusals: int = 0  # runs and audits that stopped with a line

    def __post_init__(self) -> None:
        self.pick = random.Random(self.seed)
        self.shares_lock = self.pick.random() < 0.4
        self.storage = MemoryStorage(f"memory/{self.seed}", {}, Scheduler(self.pick), not self.shares_lock)
        time = number = 0
        for place in range(FILES):
            rows = []
            for _ in range(self.pick.randrange(4)):
                time += self.pick.randrange(7)
                rows.append((number, max(0, time - self.pick.choice([0, 0, 2, 9]))))
                number += 1
            self.events[f"in/{place}"] = rows

    def play(self) -> int:
        """Play the episode to its end, check it, and return how many steps it took."""
        scheduler = self.storage.scheduler
        scheduler.is_calm = True
        if self.pick.random() < 0.8:
            ledgers.require_audit(self.storage)
        scheduler.is_calm = False
        waiting = list(self.events)
        for _ in range(150):
            draw = self.pick.random()
            if waiting and draw < 0.06:
                self.arrived.append(File(waiting.pop(0), 1, len(waiting) + 1))
            elif len(scheduler.processes) < MOST_PROCESSES:
                kind, work = self.pick.choice(self.kinds())
                scheduler.start(kind, lambda work=work: self.live(work))
            scheduler.turn_all()
        while scheduler.processes:
            scheduler.turn()
        self.arrived += [File(name, 1, 1) for name in waiting]
        self.end()
        return scheduler.steps

    def kinds(self) -> list[tuple[str, Callable[[], None]]]:
        """Return the kinds of processes, the frequent ones several times."""
        return [
            *[("run", self.run)] * 4,
            *[("audit", self.audit)] * 2,
            ("operator", self.settle),
            ("reader", self.read),
        ]

    def end(self) -> None:
        """Let a last run and a last audit take what is left, and check everything."""
        self.storage.scheduler.is_calm = True
        self.is_locked = False
        try:
            self.run()
        except HeddleError as error:
            raise Broken(f"a calm run is refused: {error}") from error
        self.read()
        self.check(newest(self.storage))

    def live(self, work: Any) -> None:
        """Do the work of a process, which may die, or stop with a line."""
        try:
            work()
        except Killed:
            pass
        except HeddleError:
            self.refusals += 1

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the warehouse; a dead process holds it no longer."""
        if self.is_locked and not self.shares_lock:
            raise HeddleError("another run is evaluating this stream; wait until it ends")
        self.is_locked = True
        try:
            yield
        finally:
            self.is_locked = False

    def run(self) -> None:
        """Evaluate what has arrived, as the run without Spark does."""
        with self.lock():
            manifest = newest(self.storage)
            if not manifest.standing:
                manifest = replace(manifest, standing=save_retained(self.storage, RetainedSlices()), buckets=1)
            program = Program("ts", (), (), (), LATENESS, self.pick.choice(PLANS), {}, {})
            plan: Any = SimpleNamespace(stream="events")
            catalog: Any = SimpleNamespace(streams={"events": SimpleNamespace(sinks=())}, alerts={})
            executors: Any = SimpleNamespace(execute=lambda files: lambda program, work: self.execute(work, files))
            run = SimulatedRun(catalog, plan, self.storage, manifest, silent, Prepared(program, executors))
            lane: Any = None  # the plan is prepared already
            run.sweep()
            at_once = self.pick.random() < 0.5
            for batch, files, _ in take_batches(run, list(self.arrived), self.pick.choice([0, 1, 2])):
                run.evaluate(batch, files, lane, at_once)
                if self.pick.random() < 0.3:
                    run.sweep()
            if run.manifest.batch >= 0:
                run.manifest = close(self.storage, run.manifest, program, executors.execute([]))
            run.sweep()

    def execute(self, work: Work, files: Sequence[File]) -> Outcome:
        """Do the work of all tasks: fold events into windows, write what ends, keep what is open."""
        feed, open_windows, late = FeedReport(), self.rows_of(work.state), []
        for file in files:
            for number, time in self.events[file.path]:
                feed.events += 1
                feed.latest = max(feed.latest, time)
                starts = windows_of(time)
                missed = [start for start in starts if start + RANGE <= work.emitted]
                late += [(number, start) for start in missed]
                for start in starts:
                    if start not in missed:
                        open_windows.setdefault(start, []).append(number)
        until = work.with_latest(feed.latest).until
        ended = {start: rows for start, rows in open_windows.items() if start + RANGE <= until}
        left = {start: rows for start, rows in open_windows.items() if start not in ended}
        report = BucketReport()
        if ended:
            report.results.append(self.write("results", ended, work.batch))
        if left:
            report.state.append(self.write("state", left, work.batch))
        if late:
            feed.windows_missed = len(late)
            feed.late.append(self.write("late", late, work.batch))
        mergeable = [file for file in work.results if not file.tier]
        if len(mergeable) > 2 and self.pick.random() < 0.5:
            report.results.append(self.write("results", self.rows_of(mergeable), work.batch, 1))
            report.merged += mergeable
        return Outcome(feeds=[feed], buckets=[report])

    def write(self, folder: str, content: Any, batch: int, tier: int = 0) -> DataFile:
        """Write a file under a name that no other attempt has."""
        self.names += 1
        name = f"{folder}/{self.names}"
        entries = list(content.items()) if isinstance(content, dict) else content
        self.storage.create(name, json.dumps(entries).encode())
        return DataFile(name, 0, len(entries), batch, tier=tier)

    def rows_of(self, files: Sequence[DataFile]) -> Rows:
        """Return the windows of some files, none of them twice."""
        rows: Rows = {}
        for file in files:
            for start, numbers in json.loads(self.storage.read(file.name)):
                if start in rows:
                    raise Broken(f"window {start} is there twice")
                rows[start] = numbers
        return rows

    def audit(self) -> None:
        """Audit what waits, and publish or quarantine it."""
        ledger = ledgers.newest_ledger(self.storage)
        manifest = newest(self.storage)
        publish_or_quarantine(self.storage, ledger, manifest, self.pick.random() < 0.8)

    def settle(self) -> None:
        """Release or discard some batch, as people do."""
        batch = self.pick.randrange(4)
        (ledgers.release if self.pick.random() < 0.5 else ledgers.discard)(self.storage, batch)

    def read(self) -> None:
        """Read all published rows: those that a reader has seen before are there, and as they were."""
        before = dict(self.seen)
        ledger = ledgers.newest_ledger(self.storage)
        manifest = newest(self.storage)
        try:
            rows = self.rows_of(ledger.public(manifest.results))
        except FileNotFoundError as missing:
            self.storage.scheduler.is_calm = True
            if newest(self.storage).sequence - manifest.sequence < KEPT_MANIFESTS:
                raise Broken(f"{missing} is in the manifest and not there") from None
            self.storage.scheduler.is_calm = False
            return
        for start, numbers in before.items():
            if rows.get(start) != numbers:
                raise Broken(f"window {start} was {numbers} for a reader, and is {rows.get(start)}")
        self.seen |= rows

    def check(self, manifest: Manifest) -> None:
        """Check that every event is in each of its windows once, or late for it, and that counts add up."""
        emitted, retained = self.rows_of(manifest.results), self.rows_of(manifest.state)
        if both := emitted.keys() & retained.keys():
            raise Broken(f"windows {sorted(both)} are both emitted and open")
        late = [tuple(entry) for file in manifest.late for entry in json.loads(self.storage.read(file.name))]
        where = [(number, start) for start, rows in (emitted | retained).items() for number in rows]
        expected = [(n, start) for rows in self.events.values() for n, time in rows for start in windows_of(time)]
        if sorted(where + late) != sorted(expected):
            raise Broken(f"windows hold {sorted(where)} and miss {sorted(late)}, of {sorted(expected)}")
        times = [time for rows in self.events.values() for _, time in rows]
        if times and manifest.latest != max(times):
            raise Broken(f"the latest event is at {max(times)}, not {manifest.latest}")
        if early := [start for start in retained if start + RANGE <= manifest.watermark]:
            raise Broken(f"windows {early} ended before {manifest.watermark} and are open")
        if manifest.latest == BEGINNING and emitted:
            raise Broken("windows without events")


def windows_of(time: int) -> list[int]:
    """Return the starts of the windows that hold a time.

    >>> windows_of(12)
    [5, 10]
    """
    last = time // SLIDE * SLIDE
    return list(range(last - RANGE + SLIDE, last + SLIDE, SLIDE))


def play_episode(seed: int) -> int:
    """Play the episode of a seed; return its steps, or raise Broken with the seed."""
    try:
        return Episode(seed).play()
    except (Broken, OSError) as broken:
        raise Broken(f"seed {seed}: {broken}; make simulate SEED={seed} EPISODES=1 plays it again") from None
