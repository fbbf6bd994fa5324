"""Runs a batch in this process, without Spark: for tests, small streams, and to see what Spark costs."""

from __future__ import annotations

from collections.abc import Sequence

from jobs.engine.batch import Executor, Outcome
from jobs.engine.bucket import Work, finish_bucket
from jobs.engine.feeding import feed_splits
from jobs.engine.program import Program
from jobs.engine.source import Split


def in_process(splits: Sequence[Split]) -> Executor:
    """An executor that reads these splits, one after another."""

    def execute(program: Program, work: Work) -> Outcome:
        outcome = Outcome()
        contents: dict[int, list[bytes]] = {}
        if splits:
            report, parcels = feed_splits(program, work, splits)
            outcome.feeds.append(report)
            for bucket, content in parcels:
                contents.setdefault(bucket, []).append(content)
        for bucket in range(work.buckets):
            outcome.buckets.append(finish_bucket(program, work, bucket, contents.get(bucket, [])))
        return outcome

    return execute
