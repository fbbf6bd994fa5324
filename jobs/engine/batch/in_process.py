"""Executors that run a batch in this process, without Spark: for tests, small streams, and to see what Spark costs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from jobs.engine.batch.bucket_task import run_bucket
from jobs.engine.events.parquet import Split
from jobs.engine.feed.task import feed_splits
from jobs.engine.program.program import Program
from jobs.engine.warehouse.consumed_files import PastBatch
from jobs.engine.work import Executor, Outcome, Work


def in_process(splits: Sequence[Split]) -> Executor:
    """Return an executor that feeds these splits; without any, it works on the retained slices alone."""
    return partial(_feed_and_finish, splits)


def replay_in_process(batches: Sequence[tuple[PastBatch, Sequence[Split]]]) -> Executor:
    """Return an executor that feeds the splits of past batches again, each under the watermark of its time."""
    return partial(_replay_and_finish, batches)


def _feed_and_finish(splits: Sequence[Split], program: Program, work: Work) -> Outcome:
    return _run(program, work, [(work, splits)] if splits else [])


def _replay_and_finish(batches: Sequence[tuple[PastBatch, Sequence[Split]]], program: Program, work: Work) -> Outcome:
    return _run(program, work, [(work.at_watermark_of(past), splits) for past, splits in batches])


def _run(program: Program, work: Work, feeds: Sequence[tuple[Work, Sequence[Split]]]) -> Outcome:
    """Run the feed tasks one after another, then one task per bucket."""
    outcome = Outcome()
    contents: dict[int, list[bytes]] = {}
    for feed_work, splits in feeds:
        report, parcels = feed_splits(program, feed_work, splits)
        outcome.feeds.append(report)
        for parcel in parcels:
            contents.setdefault(parcel.bucket, []).append(parcel.content)
    finals_work = work.with_latest(outcome.latest)
    for bucket in range(work.buckets):
        outcome.buckets.append(run_bucket(program, finals_work, bucket, contents.get(bucket, [])))
    return outcome
