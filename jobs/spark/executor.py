"""Runs a batch on Spark: feed tasks, Spark's shuffle by bucket, one task per bucket."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from jobs.engine.batch.adopt_task import bucket_task
from jobs.engine.batch.in_process import under
from jobs.engine.events.parquet import Split
from jobs.engine.feed.task import feed_splits
from jobs.engine.program.clock import BEGINNING
from jobs.engine.program.program import Program
from jobs.engine.warehouse.raw_events import Replayed
from jobs.engine.work import Executor, FeedReport, Outcome, Work
from jobs.host.storage import in_a_line
from optimizer.errors import HeddleError

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext

Item = tuple[
    int, Any
]  # bucket, and a parcel's bytes, the time of a feed's latest event, its report, or an error's line
Feeding = Callable[[Program, Work], "RDD[Item]"]


def on_spark(context: SparkContext, feeding: Feeding | None) -> Executor:
    """An executor for the events that `feeding` brings; without it, the retained slices alone."""

    def execute(program: Program, work: Work) -> Outcome:
        finisher = _finisher(program, work)
        if feeding is None:
            nothing: RDD[Item] = context.parallelize([], work.buckets)
            return gather(nothing.mapPartitionsWithIndex(finisher).collect())
        return gather(
            feeding(program, work).partitionBy(work.buckets, _bucket).mapPartitionsWithIndex(finisher).collect()
        )

    return execute


def from_past(context: SparkContext, feedings: Sequence[tuple[Replayed, Feeding]]) -> Feeding:
    """Batches of the past, each under the watermark of its time."""

    def feeding(program: Program, work: Work) -> RDD[Item]:
        return context.union([feed(program, under(work, past)) for past, feed in feedings])

    return feeding


def from_files(context: SparkContext, heaps: Sequence[Sequence[Split]]) -> Feeding:
    """The file lane: every task reads its own files."""

    def feeding(program: Program, work: Work) -> RDD[Item]:
        def task(mine: Iterable[Sequence[Split]]) -> Iterator[Item]:
            splits = [split for heap in mine for split in heap]
            return guarded(lambda: feed_splits(program, work, splits), work.told) if splits else iter(())

        return context.parallelize(heaps, max(1, len(heaps))).mapPartitions(task)

    return feeding


def guarded(feed: Callable[[], tuple[FeedReport, list[tuple[int, bytes]]]], told: Iterable[int] = ()) -> Iterator[Item]:
    """A feed's items; what the user can mend travels to the driver as a line, not as a traceback."""
    try:
        report, parcels = feed()
    except (HeddleError, OSError) as error:
        yield 0, in_a_line(error)
        return
    yield 0, report
    for bucket in told:
        yield bucket, report.latest
    yield from parcels
    settle()


@cache
def settle() -> None:
    """Once per process: set all that is loaded aside from garbage collection, which pyspark runs after every task."""
    gc.collect()
    gc.freeze()


def _bucket(bucket: int) -> int:
    return bucket


def _finisher(program: Program, work: Work) -> Callable[[int, Iterable[Item]], Iterator[Any]]:
    def task(bucket: int, items: Iterable[Item]) -> Iterator[Any]:
        contents, latest = [], BEGINNING
        for _, item in items:
            if isinstance(item, bytes):
                contents.append(item)
            elif isinstance(item, int):
                latest = max(latest, item)
            else:
                yield item
        try:
            yield bucket_task(work)(program, work.seen(latest), bucket, contents)
        except (HeddleError, OSError) as error:
            yield in_a_line(error)
        settle()

    return task


def gather(found: Iterable[Any]) -> Outcome:
    """Sort what the tasks sent into reports and errors."""
    outcome = Outcome()
    for item in found:
        if isinstance(item, str):
            outcome.errors.append(item)
        elif isinstance(item, FeedReport):
            outcome.feeds.append(item)
        else:
            outcome.buckets.append(item)
    return outcome
