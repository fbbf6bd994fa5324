"""The contract between the driver and its tasks: what a task is told, and what it reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Protocol

from jobs.engine.program.clock import BEGINNING
from jobs.engine.program.program import Program
from jobs.engine.warehouse.input_files import File
from jobs.engine.warehouse.manifest import DataFile
from jobs.engine.warehouse.raw_events import Replayed


class Executors(Protocol):
    """Who evaluates a program on some files."""

    def execute(self, files: Sequence[File]) -> Executor:
        """An executor for these files; without any, for the retained slices alone."""
        ...

    def replay(self, batches: Sequence[Replayed]) -> Executor:
        """An executor that takes in batches of the past, each under the watermark of its time."""
        ...


@dataclass
class Outcome:
    """What the tasks of a batch report; an error of any of them keeps the batch from being committed."""

    feeds: list[FeedReport] = field(default_factory=list)
    buckets: list[BucketReport] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    unshared: dict[str, list[DataFile]] = field(default_factory=dict)  # what plain Spark answered, by query
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def latest(self) -> int:
        """The latest event of the batch."""
        return max([BEGINNING, *(report.latest for report in self.feeds)])


@dataclass(frozen=True)
class Work:
    """What the driver tells every task of a batch."""

    root: str
    batch: int
    emitted: int  # windows that end at or before it are out already
    until: int  # windows that end at or before it are emitted now
    buckets: int
    state: tuple[DataFile, ...] = ()
    results: tuple[DataFile, ...] = ()
    late: tuple[DataFile, ...] = ()
    joined: dict[str, int] = field(default_factory=dict)  # labels of later queries: windows ending after it are theirs
    carried: dict[str, str] | None = None  # a new plan takes over: whose slices each of its trees goes on with
    lateness: int | None = None  # the last batch of a run: windows that its own events let end are emitted, too

    def seen(self, latest: int) -> Work:
        """The work, once the latest event of the batch is known."""
        if self.lateness is None or latest == BEGINNING:
            return self
        return replace(self, until=max(self.until, latest - self.lateness))

    @property
    def told(self) -> range:
        """The buckets that have to know the latest event."""
        return range(0 if self.lateness is None else self.buckets)


@dataclass
class BucketReport:
    """What a bucket tells the driver."""

    state: list[DataFile] = field(default_factory=list)
    results: list[DataFile] = field(default_factory=list)
    merged: list[DataFile] = field(default_factory=list)  # files whose rows are now in another file of `results`
    operations: dict[str, int] = field(default_factory=dict)
    partials: dict[str, int] = field(default_factory=dict)
    late: list[DataFile] = field(default_factory=list)  # mergers of late files; what they hold is in `merged`
    seconds: dict[str, float] = field(default_factory=dict)


@dataclass
class FeedReport:
    """What a feed task tells the driver."""

    events: int = 0
    without_time: int = 0
    latest: int = BEGINNING
    early: int = 0  # events before the watermark that were counted, not yet looked at: some may be late
    windows_missed: int = 0
    late: list[DataFile] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    operations: dict[str, int] = field(default_factory=dict)  # events folded into slices, by tree

    def fold(self, tree: str, count: int) -> None:
        """Count events, or partials, that were folded."""
        self.operations[tree] = self.operations.get(tree, 0) + count


def report_to_json(report: FeedReport) -> str:
    """A report as text."""
    return json.dumps(asdict(report))


def report_from_json(text: str) -> FeedReport:
    """A report from text."""
    document = json.loads(text)
    return FeedReport(**{**document, "late": [DataFile(**file) for file in document["late"]]})


Executor = Callable[[Program, Work], Outcome]
