"""Runs a batch in this process, without Spark: for tests, small streams, and to see what Spark costs."""

from __future__ import annotations

from collections.abc import Sequence

from jobs.engine.batch.adopt_task import bucket_task
from jobs.engine.events.parquet import Split
from jobs.engine.feed.task import feed_splits
from jobs.engine.program.program import Program
from jobs.engine.warehouse.raw_events import Replayed
from jobs.engine.work import Executor, Outcome, Work


def in_process(splits: Sequence[Split]) -> Executor:
    """An executor that reads these splits, one after another."""

    def execute(program: Program, work: Work) -> Outcome:
        return _executed(program, work, [(work, splits)] if splits else [])

    return execute


def replayed(batches: Sequence[tuple[Replayed, Sequence[Split]]]) -> Executor:
    """An executor that reads the splits of batches of the past, each under the watermark of its time."""

    def execute(program: Program, work: Work) -> Outcome:
        return _executed(program, work, [(work.at_watermark_of(past), splits) for past, splits in batches])

    return execute


def _executed(program: Program, work: Work, feeds: Sequence[tuple[Work, Sequence[Split]]]) -> Outcome:
    outcome = Outcome()
    contents: dict[int, list[bytes]] = {}
    for feed_work, splits in feeds:
        report, parcels = feed_splits(program, feed_work, splits)
        outcome.feeds.append(report)
        for parcel in parcels:
            contents.setdefault(parcel.bucket, []).append(parcel.content)
    finals_work = work.with_latest(outcome.latest)
    for bucket in range(work.buckets):
        outcome.buckets.append(bucket_task(work)(program, finals_work, bucket, contents.get(bucket, [])))
    return outcome
