"""Feed tasks on Spark: each sends messages to the buckets. Here: tasks that read files, and batches of the past."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Protocol

from jobs.engine.events.parquet import Split
from jobs.engine.feed.task import feed_splits
from jobs.engine.program.program import Program
from jobs.engine.program.queries import of_lane
from jobs.engine.warehouse.consumed_files import PastBatch
from jobs.engine.work import Failed, FeedReport, Latest, Message, Parcel, Report, Work
from jobs.host.storage import in_a_line
from optimizer.errors import HeddleError

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext


class FeedTasks(Protocol):
    """The feed tasks of a batch."""

    def send(self, program: Program, work: Work) -> RDD[Message]:
        """Return the messages of all tasks, not yet by bucket; Spark runs the tasks when the messages are needed."""
        ...


@dataclass(frozen=True)
class FileTasks:
    """The file lane: one task per heap of splits; each reads its own files."""

    context: SparkContext
    heaps: Sequence[Sequence[Split]]

    def send(self, program: Program, work: Work) -> RDD[Message]:
        """Return the messages of the tasks."""
        heaps = self.context.parallelize(self.heaps, max(1, len(self.heaps)))
        return heaps.mapPartitions(partial(_feed_heaps, program, work))


@dataclass(frozen=True)
class BothLanes:
    """Tasks of both lanes, each with its own trees; late events are looked for later, when all their queries are known.

    One lane counts the events: the tasks that read files, unless they have nothing else to do."""

    file: FileTasks
    frame: FeedTasks | None  # None: no tree needs it, and late events may all the same

    def send(self, program: Program, work: Work) -> RDD[Message]:
        """Return the messages of the tasks."""
        in_files, in_frame = of_lane(program, "file"), of_lane(program, "frame")
        work = replace(work, finds_late=False)
        if self.frame is None or not in_frame.groupings:
            return self.file.send(in_files, work)
        if not in_files.groupings:
            return self.frame.send(in_frame, work)
        by_spark = self.frame.send(in_frame, replace(work, counts=False))
        return self.file.context.union([self.file.send(in_files, work), by_spark])


@dataclass(frozen=True)
class PastTasks:
    """Batches of the past, each under the watermark of its time."""

    context: SparkContext
    batches: Sequence[tuple[PastBatch, FeedTasks]]

    def send(self, program: Program, work: Work) -> RDD[Message]:
        """Return the messages of the tasks of all batches."""
        return self.context.union([tasks.send(program, work.at_watermark_of(past)) for past, tasks in self.batches])


def _feed_heaps(program: Program, work: Work, heaps: Iterable[Sequence[Split]]) -> Iterator[Message]:
    splits = [split for heap in heaps for split in heap]
    if splits:
        yield from feed_messages(partial(feed_splits, program, work, splits), work)


def feed_messages(feed: Callable[[], tuple[FeedReport, list[Parcel]]], work: Work) -> Iterator[Message]:
    """Run a feed and yield its messages; what the user can mend travels to the driver as a line, not a traceback."""
    try:
        report, parcels = feed()
    except (HeddleError, OSError) as error:
        yield Failed(in_a_line(error))
        return
    yield Report(report)
    for bucket in work.buckets_awaiting_latest:
        yield Latest(bucket, report.latest)
    yield from parcels
    freeze_heap()


@cache
def freeze_heap() -> None:
    """Set all that is loaded aside from garbage collection, which pyspark runs after every task; once per process."""
    gc.collect()
    gc.freeze()
