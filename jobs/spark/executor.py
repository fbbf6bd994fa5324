"""Runs a batch on Spark: feed tasks, Spark's shuffle by bucket, one task per bucket, then what plain Spark adds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from jobs.engine.finals.task import run_bucket
from jobs.engine.program.program import Program
from jobs.engine.work import BucketReport, Failed, Latest, Message, Outcome, Parcel, Report, Work, collect_outcome
from jobs.host.storage import in_a_line
from jobs.spark.feed_tasks import FeedTasks, freeze_heap
from jobs.spark.frame_lane import add_late_events
from jobs.spark.unshared import UnsharedLane, add_unshared_answers
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class SparkExecutor:
    """Runs the tasks of a batch."""

    context: SparkContext
    tasks: FeedTasks | None  # without any, the retained slices alone
    events: Callable[[], DataFrame] | None = None  # where feed tasks leave it open, late ones are looked for among them
    unshared: UnsharedLane | None = None

    def __call__(self, program: Program, work: Work) -> Outcome:
        """Run the feed and the buckets, then look for late events and answer the unshared queries."""
        outcome = run_tasks_on_spark(self.context, self.tasks, program, work)
        if self.events is not None and not outcome.errors and any(report.early for report in outcome.feeds):
            outcome = add_late_events(outcome, self.events(), program, work)
        if self.unshared is not None and not outcome.errors:
            outcome = add_unshared_answers(outcome, self.unshared, program, work)
        return outcome


def run_tasks_on_spark(context: SparkContext, tasks: FeedTasks | None, program: Program, work: Work) -> Outcome:
    """Run the feed tasks and one task per bucket, and return what they report."""
    by_bucket: RDD[tuple[int, Message]] = context.parallelize([], work.buckets)
    if tasks is not None:
        by_bucket = tasks.send(program, work).keyBy(_bucket_of).partitionBy(work.buckets, _own_number)
    return collect_outcome(by_bucket.mapPartitionsWithIndex(partial(_finish_bucket, program, work)).collect())


def _bucket_of(message: Message) -> int:
    return message.bucket


def _own_number(bucket: int) -> int:
    return bucket


def _finish_bucket(
    program: Program, work: Work, bucket: int, messages: Iterable[tuple[int, Message]]
) -> Iterator[Failed | Report | BucketReport]:
    contents, latest = [], BEGINNING
    for _, message in messages:
        match message:
            case Parcel(_, content):
                contents.append(content)
            case Latest(_, time):
                latest = max(latest, time)
            case Failed() | Report():  # for the driver
                yield message
    try:
        yield run_bucket(program, work.with_latest(latest), bucket, contents)
    except (HeddleError, OSError) as error:
        yield Failed(in_a_line(error))
    freeze_heap()
