"""The contract between the driver and its tasks: the work of a batch, the messages between tasks, the reports.

1. The driver makes one `Work` per batch and gives it, with the `Program`, to an `Executor`. 2. Feed tasks read
events. Each sends `Report` and its `Parcel`s, or `Failed`; in a run's last batch `Latest`, too. 3. One task per
bucket takes the parcels addressed to it and makes a `BucketReport`, or `Failed`. 4. The executor returns all reports
as one `Outcome`, and the driver commits a manifest from it.

A `Stopwatch` measures the CPU seconds of each step where the work is done: a busy machine does not change them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal, Protocol

from jobs.engine.program.program import Program
from jobs.engine.sources.contract import File
from jobs.engine.warehouse.consumed_files import PastBatch
from jobs.engine.warehouse.manifest import ENDLESS, DataFile
from optimizer.plan.counters import PARTIAL, ROLLED
from optimizer.windows.window import BEGINNING

Kind = Literal["batch", "adopt", "correct"]
MessageRow = tuple[int, str, bytes]  # bucket, kind of message, content
Tally = dict[str, dict[str, int]]  # what was done for every tree, by the names of counters.py; "": for all


def tally(tallies: Tally, tree: str, counts: Mapping[str, int]) -> None:
    """Add counts to what was done for a tree.

    >>> tallies = {"t1": {"slice.made": 2}}
    >>> tally(tallies, "t1", {"slice.made": 3, "row": 1})
    >>> tallies
    {'t1': {'slice.made': 5, 'row': 1}}
    """
    of_tree = tallies.setdefault(tree, {})
    for name, count in counts.items():
        of_tree[name] = of_tree.get(name, 0) + count


def add_tallies(parts: Iterable[Tally]) -> Tally:
    """Add up what many tasks did."""
    total: Tally = {}
    for part in parts:
        for tree, counts in part.items():
            tally(total, tree, counts)
    return total


@dataclass(frozen=True, kw_only=True)
class FilesAtHand:
    """The live files that a batch's tasks read, and may make few large ones of."""

    state: tuple[DataFile, ...] = ()
    results: tuple[DataFile, ...] = ()
    late: tuple[DataFile, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LateRules:
    """What tasks do about events whose windows are out already."""

    joined: dict[str, int] = field(default_factory=dict)  # labels of later queries: windows ending after it are theirs
    finds_late: bool = True  # whether feed tasks look for late events; else they count those before the watermark
    corrected_after: int | None = None  # late events correct the windows that end after it; None: they correct none
    touched: tuple[DataFile, ...] = ()  # kind "correct": the rows that late events fell into; without any, all count


@dataclass(frozen=True)
class Work(FilesAtHand, LateRules):
    """What the driver asks of every task of a batch, or of the adoption of a new plan between two batches."""

    root: str
    batch: int
    emitted: int  # windows that end at or before it are out already
    until: int  # windows that end at or before it are emitted now
    buckets: int
    kind: Kind = "batch"
    adopted_from: dict[str, tuple[str, ...]] = field(default_factory=dict)  # kind "adopt": by tree, old slices by level
    is_last: bool = False  # of its run: windows that its own events let end are emitted, too
    lateness: int = 0  # by how much the watermark of its own events is behind the latest of them
    counts: bool = True  # whether feed tasks count the events: where both lanes read them, only one does

    @property
    def buckets_awaiting_latest(self) -> range:
        """The buckets whose task must know the latest event of the batch: all in the last batch of a run, else none."""
        return range(self.buckets if self.is_last else 0)

    def with_latest(self, latest: int) -> Work:
        """Return the work once the latest event is known: the last batch of a run then emits more windows."""
        if not self.is_last or latest == BEGINNING:
            return self
        return replace(self, until=max(self.until, latest - self.lateness))

    def at_watermark_of(self, past: PastBatch) -> Work:
        """Return the work of feed tasks that read a batch of the past once more, under the watermark of its time."""
        return replace(self, batch=past.batch, emitted=past.emitted)


@dataclass
class FeedReport:
    """What a feed task reports to the driver."""

    events: int = 0
    without_time: int = 0
    latest: int = BEGINNING
    early: int = 0  # events before the watermark that were counted, not yet looked at: some may be late
    windows_missed: int = 0
    windows_corrected: int = 0
    first_corrected: int = ENDLESS  # the time of the earliest event that corrects a window
    late: list[DataFile] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    operations: dict[str, int] = field(default_factory=dict)  # events folded into slices, by tree
    counts: Tally = field(default_factory=dict)

    def count_folds(self, tree: str, counts: Mapping[str, int]) -> None:
        """Count folds of events into the measures of a tree, and what it takes to give the events their cells."""
        self.operations[tree] = self.operations.get(tree, 0) + counts[PARTIAL]
        tally(self.counts, tree, counts)

    def count_rolled(self, tree: str, slices: int, measures: int) -> None:
        """Count slices of a finer grouping that were folded into the measures of a coarser one."""
        self.operations[tree] = self.operations.get(tree, 0) + slices * measures
        tally(self.counts, tree, {ROLLED: slices * (1 + measures)})


@dataclass
class BucketReport:
    """What a bucket's task reports to the driver."""

    state: list[DataFile] = field(default_factory=list)
    results: list[DataFile] = field(default_factory=list)
    merged: list[DataFile] = field(default_factory=list)  # files whose rows are now in another file of `results`
    operations: dict[str, int] = field(default_factory=dict)
    partials: dict[str, int] = field(default_factory=dict)
    late: list[DataFile] = field(default_factory=list)  # mergers of late files; the files they replace are in `merged`
    seconds: dict[str, float] = field(default_factory=dict)
    counts: Tally = field(default_factory=dict)


@dataclass(frozen=True)
class Parcel:
    """Partials on their way from a feed task to a bucket: packed tables."""

    bucket: int
    content: bytes


@dataclass(frozen=True)
class Latest:
    """The time of a feed task's latest event, for a bucket that awaits it."""

    bucket: int
    time: int


@dataclass(frozen=True)
class Failed:
    """What stopped a task, as the one line that the user reads; it passes through bucket 0 to the driver."""

    line: str
    bucket: int = 0


@dataclass(frozen=True)
class Report:
    """A feed task's report; it passes through bucket 0 to the driver."""

    feed: FeedReport
    bucket: int = 0


Message = Parcel | Latest | Failed | Report


def to_row(message: Message) -> MessageRow:
    """Return a message as its bucket, its kind and bytes: what a DataFrame of Spark's can carry.

    >>> to_row(Latest(bucket=3, time=60))
    (3, 'latest', b'60')
    """
    match message:
        case Parcel(bucket, content):
            return bucket, "parcel", content
        case Latest(bucket, time):
            return bucket, "latest", str(time).encode()
        case Failed(line, bucket):
            return bucket, "failed", line.encode()
        case Report(feed, bucket):
            return bucket, "report", json.dumps(asdict(feed)).encode()


def from_row(row: MessageRow) -> Message:
    """Return the message that `to_row` made the row from.

    >>> from_row((3, "latest", b"60"))
    Latest(bucket=3, time=60)
    """
    bucket, kind, content = row
    match kind:
        case "parcel":
            return Parcel(bucket, content)
        case "latest":
            return Latest(bucket, int(content))
        case "failed":
            return Failed(content.decode(), bucket)
        case "report":
            document = json.loads(content)
            late = [DataFile(**file) for file in document["late"]]
            return Report(FeedReport(**{**document, "late": late}), bucket)
        case _:
            raise ValueError(f"there is no message of the kind {kind}")


@dataclass
class Outcome:
    """What the tasks of a batch reported; an error of any of them keeps the batch from being committed."""

    feeds: list[FeedReport] = field(default_factory=list)
    buckets: list[BucketReport] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    unshared: dict[str, list[DataFile]] = field(default_factory=dict)  # what plain Spark answered, by query
    revisions: list[DataFile] = field(default_factory=list)  # answers to emitted windows that late events corrected
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def latest(self) -> int:
        """The time of the batch's latest event."""
        return max([BEGINNING, *(report.latest for report in self.feeds)])


def collect_outcome(messages: Iterable[Failed | Report | BucketReport]) -> Outcome:
    """Sort what the tasks sent to the driver into the reports and errors of an outcome."""
    outcome = Outcome()
    for message in messages:
        match message:
            case Failed(line):
                outcome.errors.append(line)
            case Report(feed):
                outcome.feeds.append(feed)
            case BucketReport():
                outcome.buckets.append(message)
    return outcome


Executor = Callable[[Program, Work], Outcome]


class Executors(Protocol):
    """Makes the executors of a run: in one process or on Spark."""

    def execute(self, files: Sequence[File]) -> Executor:
        """Return an executor that feeds these files; without any, it works on the retained slices alone."""
        ...

    def execute_alone(self, files: Sequence[File]) -> Executor:
        """Return an executor that feeds these files, and for which there are no events before them."""
        ...

    def replay(self, batches: Sequence[PastBatch]) -> Executor:
        """Return an executor that feeds batches of the past again, each under the watermark of its time."""
        ...


@dataclass
class Stopwatch:
    """Counts CPU seconds by step: a lap gives the time since the last one to its step."""

    seconds: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.process_time)

    def lap(self, step: str) -> None:
        """Count everything since the last lap as spent on this step."""
        now = time.process_time()
        self.seconds[step] = self.seconds.get(step, 0.0) + now - self._last
        self._last = now


def add_up(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Add up counts or seconds of many tasks by name.

    >>> add_up([{"read": 1, "feed": 2}, {"read": 3}])
    {'read': 4, 'feed': 2}
    """
    total: dict[str, float] = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = total.get(name, 0) + amount
    return total
