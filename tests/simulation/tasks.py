"""Tasks as simple as they get: events become slices, slices become windows, and late events are written down."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobs.engine.program.program import Program, TreeProgram
from jobs.engine.slices.exchange import label
from jobs.engine.sources.contract import File
from jobs.engine.warehouse.consumed_files import PastBatch
from jobs.engine.warehouse.manifest import DataFile
from jobs.engine.work import BucketReport, Executor, FeedReport, Outcome, Work
from optimizer.windows.window import BEGINNING
from tests.simulation.memory_storage import MemoryStorage
from tests.simulation.plans import queries_of, windows_of

Slices = dict[str, dict[int, list[int]]]  # by label and start: the numbers of their events
Rows = dict[tuple[str, int], list[int]]  # the events of every window, by query and start
Event = tuple[int, int]  # number, time


class Broken(AssertionError):  # noqa: N818 (a verdict, not an error)
    """Something that must always hold does not."""


@dataclass
class Tasks:
    """What a run's tasks do, over a storage in memory."""

    storage: MemoryStorage
    events: Mapping[str, Sequence[Event]]  # by file
    pick: random.Random
    names: int = 0

    def execute(self, files: Sequence[File]) -> Executor:
        """Return an executor that feeds these files."""
        return lambda program, work: self._do(program, work, files)

    def execute_alone(self, files: Sequence[File]) -> Executor:
        """Return the same: no task looks at what came before."""
        return self.execute(files)

    def replay(self, batches: Sequence[PastBatch]) -> Executor:
        """Return an executor of windows in rows, of which there are none."""
        return self.execute([file for batch in batches for file in batch.files])

    def _do(self, program: Program, work: Work, files: Sequence[File]) -> Outcome:
        feed, late = FeedReport(), []
        slices = self._slices_before(program, work)
        for number, time in (event for file in files for event in self.events[file.path]):
            feed.events += 1
            feed.latest = max(feed.latest, time)
            for grouping, tree in program.roots():
                of_tree = slices.setdefault(label(grouping, tree), {})
                of_tree.setdefault(slice_of(tree, time), []).append(number)
            late += self._missed(program, work, number, time)
        if late and work.kind == "batch":
            feed.windows_missed = len(late)
            feed.late.append(self.write("late", late, work.batch))
        until = work.with_latest(feed.latest).until if work.kind == "batch" else work.until
        report = BucketReport()
        if work.kind == "batch":
            self._emit(program, work, slices, until, report)
        left = self._still_needed(program, slices, until)
        if left:
            report.state.append(self.write("state", left, work.batch))
        return Outcome(feeds=[feed], buckets=[report])

    def _missed(self, program: Program, work: Work, number: int, time: int) -> Iterable[tuple[int, str, int]]:
        """Return the windows that are out already when an event comes."""
        for query in queries_of(program):
            for start in windows_of(query, time):
                if work.joined.get(query.label, BEGINNING) < start + query.window.range <= work.emitted:
                    yield number, query.label, start

    def _slices_before(self, program: Program, work: Work) -> Slices:
        """Return the slices that are there: as they are, or as a new plan takes them over."""
        if work.kind == "batch":
            return self.slices_of(work.state)
        before, slices = self.slices_of(work.state), Slices()
        for grouping, tree in program.roots():
            name = label(grouping, tree)
            for source in work.adopted_from.get(name, ()):
                for start, numbers in before.get(source, {}).items():
                    slices.setdefault(name, {}).setdefault(slice_of(tree, start), []).extend(numbers)
        return slices

    def _emit(self, program: Program, work: Work, slices: Slices, until: int, report: BucketReport) -> None:
        rows: Rows = {}
        for grouping, tree in program.roots():
            for query, start, numbers in windows_from(tree, slices.get(label(grouping, tree), {})):
                end = start + query.window.range
                if max(work.emitted, work.joined.get(query.label, BEGINNING)) < end <= until:
                    rows[query.label, start] = numbers
        if rows:
            report.results.append(self.write("results", _entries(rows), work.batch))
        mergeable = [file for file in work.results if not file.tier]
        if len(mergeable) > 2 and self.pick.random() < 0.5:
            report.results.append(self.write("results", _entries(self.rows_of(mergeable)), work.batch, 1))
            report.merged += mergeable

    def _still_needed(self, program: Program, slices: Slices, until: int) -> Slices:
        """Return the slices of the program's trees as far back as windows need them that have not ended."""
        needed = Slices()
        for grouping, tree in program.roots():
            name = label(grouping, tree)
            since = tree.levels[0].since(until)
            needed[name] = {start: numbers for start, numbers in slices.get(name, {}).items() if start >= since}
        return {name: of_tree for name, of_tree in needed.items() if of_tree}

    def write(self, folder: str, content: Any, batch: int, tier: int = 0) -> DataFile:
        """Write a file under a name that no other attempt has."""
        self.names += 1
        name = f"{folder}/{self.names}"
        self.storage.create(name, json.dumps(content).encode())
        return DataFile(name, 0, len(content), batch, tier=tier)

    def load(self, file: DataFile) -> Any:
        """Return what a file holds."""
        return json.loads(self.storage.read(file.name))

    def slices_of(self, files: Sequence[DataFile]) -> Slices:
        """Return the slices of state files."""
        slices: Slices = {}
        for file in files:
            for name, of_tree in self.load(file).items():
                if name in slices:
                    raise Broken(f"slices of {name} are there twice")
                slices[name] = {int(start): numbers for start, numbers in of_tree.items()}
        return slices

    def rows_of(self, files: Sequence[DataFile]) -> Rows:
        """Return the windows of some files, none of them twice."""
        rows: Rows = {}
        for file in files:
            for name, start, numbers in self.load(file):
                if (name, start) in rows:
                    raise Broken(f"window {start} of {name} is there twice")
                rows[name, start] = numbers
        return rows


def slice_of(tree: TreeProgram, time: int) -> int:
    """Return the start of the slice that holds a time."""
    return max(time - (time - residue) % period for period, residue in tree.edges)


def windows_from(tree: TreeProgram, slices: Mapping[int, Sequence[int]]) -> Iterable[tuple[Any, int, list[int]]]:
    """Return the windows that slices are in: query, start, and their events."""
    for query in tree.queries:
        windows: dict[int, list[int]] = {}
        for at, numbers in slices.items():
            for start in windows_of(query, at):
                windows.setdefault(start, []).extend(numbers)
        yield from ((query, start, sorted(numbers)) for start, numbers in windows.items())


def _entries(rows: Rows) -> list[tuple[str, int, list[int]]]:
    return [(name, start, numbers) for (name, start), numbers in rows.items()]
