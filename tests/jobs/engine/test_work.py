"""The contract between driver and tasks: messages survive the way as rows, and an outcome holds every report."""

from __future__ import annotations

import pickle

import pytest

from jobs.engine.warehouse.consumed_files import PastBatch
from jobs.engine.warehouse.manifest import DataFile
from jobs.engine.work import (
    BucketReport,
    Failed,
    FeedReport,
    Latest,
    Message,
    Outcome,
    Parcel,
    Report,
    Work,
    add_tallies,
    collect_outcome,
    from_row,
    to_row,
)
from optimizer.plan.counters import CELL, PARTIAL
from optimizer.windows.window import BEGINNING

FEED = FeedReport(events=3, latest=60, late=[DataFile("late/a", 0, 2, 7)], seconds={"read": 0.5}, operations={"t1": 3})
MESSAGES: list[Message] = [Parcel(4, b"\x00\xff"), Latest(2, -60), Failed("é: cannot be read"), Report(FEED)]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_survives_as_a_row_and_in_sparks_shuffle(message: Message) -> None:
    bucket, kind, content = to_row(message)
    assert bucket == message.bucket
    assert isinstance(kind, str)
    assert isinstance(content, bytes)
    assert from_row((bucket, kind, content)) == message
    assert pickle.loads(pickle.dumps(message)) == message


def test_a_row_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no message of the kind letter"):
        from_row((0, "letter", b""))


def test_an_outcome_holds_every_report_and_every_error() -> None:
    bucket = BucketReport(partials={"t1": 2})
    outcome = collect_outcome([Report(FEED), Failed("one"), bucket, Report(FeedReport(latest=90)), Failed("two")])
    assert outcome == Outcome([FEED, FeedReport(latest=90)], [bucket], ["one", "two"])
    assert outcome.latest == 90
    assert Outcome().latest == BEGINNING


def test_only_the_last_batch_of_a_run_emits_by_its_own_events() -> None:
    work = Work("w", 3, emitted=10, until=20, buckets=2)
    assert list(work.buckets_awaiting_latest) == []
    assert work.with_latest(100) is work
    last = Work("w", 3, emitted=10, until=20, buckets=2, is_last=True, lateness=5)
    assert list(last.buckets_awaiting_latest) == [0, 1]
    assert last.with_latest(100).until == 95
    assert last.with_latest(22).until == 20  # the watermark never goes back
    assert last.with_latest(BEGINNING) is last


def test_a_batch_of_the_past_is_fed_under_its_own_watermark() -> None:
    work = Work("w", 9, emitted=100, until=100, buckets=1, kind="adopt", adopted_from={"new": "old"})
    past = work.at_watermark_of(PastBatch(2, 40, ()))
    assert (past.batch, past.emitted, past.until, past.kind) == (2, 40, 100, "adopt")


def test_operations_add_up_by_tree() -> None:
    report = FeedReport()
    report.count_folds("t1", {CELL: 2, PARTIAL: 3})
    report.count_folds("t1", {CELL: 2, PARTIAL: 4})
    report.count_folds("t2", {CELL: 1, PARTIAL: 1})
    assert report.operations == {"t1": 7, "t2": 1}
    assert add_tallies([report.counts, {"t1": {CELL: 5}}])["t1"] == {CELL: 9, PARTIAL: 7}
