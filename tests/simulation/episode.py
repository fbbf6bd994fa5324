"""One stream from its first file to its last, with everything that happens to it on the way; and what must hold."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

from expectations.publish import publish_or_quarantine
from jobs.engine.sources.contract import File
from jobs.engine.warehouse import consumed_files, lifecycle, outbox
from jobs.engine.warehouse import ledger as ledgers
from jobs.engine.warehouse.manifest import Manifest, newest
from jobs.engine.warehouse.state_files import load_retained
from jobs.runs import run as runs
from jobs.runs.log_batches import list_file_batches as take_batches
from jobs.runs.run import Prepared, Run, silent
from jobs.sinks.contract import SinkDownError
from jobs.sinks.deliver import hand_over
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING
from tests.simulation.memory_storage import Killed, MemoryStorage, Scheduler
from tests.simulation.plans import LATER, Planned, plans, queries_of, windows_of
from tests.simulation.sinks import MemorySink
from tests.simulation.tasks import Broken, Rows, Tasks, windows_from

FILES = 6
MOST_PROCESSES = 4
COMPACT_AT = KEPT_MANIFESTS = 3  # of the product, smaller than there


@dataclass(frozen=True)
class SimulatedLane:
    """A plan made ready: its tasks are the episode's."""

    planned: Planned
    tasks: Tasks

    def prepare(self, files: Sequence[File]) -> Prepared:
        """Return what is compiled already."""
        return Prepared(self.planned.program, self.tasks)

    def executors(self) -> Tasks:
        """Return the tasks."""
        return self.tasks


@dataclass
class Episode:
    """The world of one seed."""

    seed: int
    pick: random.Random = field(init=False)
    storage: MemoryStorage = field(init=False)
    tasks: Tasks = field(init=False)
    events: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # by file: (number, time)
    arrived: list[File] = field(default_factory=list)
    sinks: list[MemorySink] = field(default_factory=list)
    is_locked: bool = False  # by a run: a second one is refused
    is_delivered: bool = False  # by somebody: a second one waits
    shares_lock: bool = False  # two runs at once: only manifests and records keep them apart
    seen: Rows = field(default_factory=dict)  # rows that some reader has seen
    refusals: int = 0  # runs and audits that stopped with a line
    notes: list[str] = field(default_factory=list)  # of runs: which plans took over, which queries joined

    def __post_init__(self) -> None:
        self.pick = random.Random(self.seed)
        self.shares_lock = self.pick.random() < 0.4
        self.storage = MemoryStorage(f"memory/{self.seed}", {}, Scheduler(self.pick), not self.shares_lock)
        self.tasks = Tasks(self.storage, self.events, self.pick)
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
        with ExitStack() as stack:
            for module, name, value in (
                (consumed_files, "current_files", self.current_files),
                (runs, "current_files", self.current_files),
                (consumed_files, "COMPACT_AT", COMPACT_AT),
                (lifecycle, "KEPT_MANIFESTS", KEPT_MANIFESTS),
            ):
                stack.enter_context(patch.object(module, name, value))
            for _ in range(150):
                draw = self.pick.random()
                if waiting and draw < 0.06:
                    self.arrived.append(File(waiting.pop(0), 1, len(waiting) + 1))
                elif draw < 0.08 and len(self.sinks) < 2 and "delivery" not in scheduler.processes.values():
                    self.sinks.append(MemorySink(f"s{len(self.sinks)}", self.storage, self.tasks, self.public_rows))
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
            *[("delivery", self.deliver)] * 2,
            ("operator", self.settle),
            ("reader", self.read),
        ]

    def end(self) -> None:
        """Let a last run, audit and delivery take what is left, and check everything."""
        self.storage.scheduler.is_calm = True
        self.is_locked = self.is_delivered = False
        try:
            self.run()
            self.deliver()
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

    def current_files(self, paths: Sequence[str]) -> list[File]:
        """Return files as they are now: none of them vanishes."""
        files = {file.path: file for file in self.arrived}
        return [files[path] for path in paths]

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
            planned = self.pick.choice(plans(with_later=self.has_later(manifest)))
            catalog = planned.with_sinks(tuple(self.sinks))
            if self.sinks:
                outbox.enter_published(self.storage)
            before = replace(manifest, buckets=1)
            run = Run(catalog, planned.plan, self.storage, before, silent)
            lane = SimulatedLane(planned, self.tasks)
            run.sweep()
            at_once = self.pick.random() < 0.5
            for batch, files, _ in take_batches(run, list(self.arrived), self.pick.choice([0, 1, 2])):
                run.evaluate(batch, files, lane, at_once)
                if self.pick.random() < 0.3:
                    run.sweep()
            if run.manifest.batch >= 0:
                run.finish(lane)
            run.sweep()
            self.notes += run.report.notes

    def has_later(self, manifest: Manifest) -> bool:
        """Say whether the query that joins is in the catalog: once it is there, it stays."""
        names = load_retained(self.storage, manifest.standing).answered_after
        return any(name.partition("@")[0] in LATER for name in names) or self.pick.random() < 0.1

    def audit(self) -> None:
        """Audit what waits, and publish or quarantine it."""
        ledger = ledgers.newest_ledger(self.storage)
        manifest = newest(self.storage)
        publish_or_quarantine(self.storage, ledger, manifest, self.pick.random() < 0.8)

    def settle(self) -> None:
        """Release or discard some batch, as people do."""
        batch = self.pick.randrange(4)
        (ledgers.release if self.pick.random() < 0.5 else ledgers.discard)(self.storage, batch)

    def deliver(self) -> None:
        """Hand the sinks what they wait for, those that are up."""
        if self.is_delivered and not self.shares_lock:
            raise HeddleError("another delivery is under way")
        self.is_delivered = True
        try:
            sinks = list(self.sinks)
            if not sinks or newest(self.storage).batch < 0:
                return
            outbox.enter_published(self.storage)
            for sink in sinks:
                try:
                    hand_over(self.storage, sink.name, outbox.waiting_for(self.storage, sink.name), sink.write)
                except SinkDownError:
                    self.refusals += 1
            outbox.forget_publications(self.storage, [sink.name for sink in sinks])
        finally:
            self.is_delivered = False

    def public_rows(self) -> Rows:
        """Return what readers see at this moment, at no time at all."""
        with self.storage.scheduler.stillness():
            ledger = ledgers.newest_ledger(self.storage)
            return self.tasks.rows_of(ledger.public(newest(self.storage).results))

    def read(self) -> None:
        """Read all published rows: those that a reader has seen before are there, and as they were."""
        before = dict(self.seen)
        ledger = ledgers.newest_ledger(self.storage)
        manifest = newest(self.storage)
        try:
            rows = self.tasks.rows_of(ledger.public(manifest.results))
        except FileNotFoundError as missing:
            with self.storage.scheduler.stillness():
                if newest(self.storage).sequence - manifest.sequence < KEPT_MANIFESTS:
                    raise Broken(f"{missing} is in the manifest and not there") from None
            return
        for place, numbers in before.items():
            if rows.get(place) != numbers:
                raise Broken(f"window {place} was {numbers} for a reader, and is {rows.get(place)}")
        self.seen |= rows

    def check(self, manifest: Manifest) -> None:
        """Check that every event is in each of its windows once, or late for it, and that counts add up."""
        emitted, open_windows = self.tasks.rows_of(manifest.results), self.open_windows(manifest)
        if both := emitted.keys() & open_windows.keys():
            raise Broken(f"windows {sorted(both)} are both emitted and open")
        late = [tuple(entry) for file in manifest.late for entry in self.tasks.load(file)]
        where = [(number, *place) for place, rows in (emitted | open_windows).items() for number in rows]
        expected = self.expected(manifest)
        if sorted(where + late) != sorted(expected):
            raise Broken(f"windows hold {sorted(where)} and miss {sorted(late)}, of {sorted(expected)}")
        times = [time for rows in self.events.values() for _, time in rows]
        if times and manifest.latest != max(times):
            raise Broken(f"the latest event is at {max(times)}, not {manifest.latest}")
        if manifest.latest == BEGINNING and emitted:
            raise Broken("windows without events")
        public = self.public_rows()
        for sink in self.sinks:
            if sink.rows != public:
                raise Broken(f"sink {sink.name} has {sink.rows}, of {public}")

    def open_windows(self, manifest: Manifest) -> Rows:
        """Return the windows that have not ended, from the slices that are retained for them."""
        slices, rows = self.tasks.slices_of(manifest.state), Rows()
        for planned in (*plans(False), *plans(True)):
            if planned.program.fingerprint == manifest.plan:
                for name, tree in planned.trees:
                    for query, start, numbers in windows_from(tree, slices.get(name, {})):
                        if start + query.window.range > max(manifest.watermark, self.joined(manifest, query)):
                            rows[query.label, start] = numbers
        return rows

    def joined(self, manifest: Manifest, query: Any) -> int:
        """Return the time after which the windows of a query are answered."""
        return load_retained(self.storage, manifest.standing).joined.get(query.label, BEGINNING)

    def expected(self, manifest: Manifest) -> list[tuple[int, str, int]]:
        """Return where every event belongs: its number, the query, the start of the window."""
        asked = load_retained(self.storage, manifest.standing).answered_after
        queries = {query.label: query for planned in plans(True) for query in queries_of(planned.program)}
        return [
            (number, name, start)
            for rows in self.events.values()
            for number, time in rows
            for name, after in asked.items()
            for start in windows_of(queries[name], time)
            if start + queries[name].window.range > after
        ]


def play_episode(seed: int) -> int:
    """Play the episode of a seed; return its steps, or raise Broken with the seed."""
    try:
        return Episode(seed).play()
    except (Broken, OSError) as broken:
        raise Broken(f"seed {seed}: {broken}; make simulate SEED={seed} EPISODES=1 plays it again") from None
