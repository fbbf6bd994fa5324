"""What tasks on Spark send: reports and parcels, or the one line of an error; and what the executor makes of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jobs.engine.events.parquet import Split
from jobs.engine.warehouse.consumed_files import PastBatch
from jobs.engine.work import Failed, FeedReport, Latest, Parcel, Report, Work
from jobs.spark.executor import SparkExecutor
from jobs.spark.feed_tasks import FileTasks, PastTasks, feed_messages
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING
from tests.worlds.streams import SECOND, odd_row
from tests.worlds.warehouse import make_world, query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORK = Work("w", 0, BEGINNING, BEGINNING, buckets=2)


def test_a_feed_sends_its_report_and_its_parcels() -> None:
    report, parcel = FeedReport(events=3, latest=60), Parcel(1, b"content")
    assert list(feed_messages(lambda: (report, [parcel]), WORK)) == [Report(report), parcel]
    last = Work("w", 0, BEGINNING, BEGINNING, buckets=2, is_last=True, lateness=5)
    sent = list(feed_messages(lambda: (report, [parcel]), last))
    assert sent == [Report(report), Latest(0, 60), Latest(1, 60), parcel]


@pytest.mark.parametrize("error", [HeddleError("no column k"), OSError("no such file")])
def test_what_the_user_can_mend_becomes_a_line(error: Exception) -> None:
    def feed() -> tuple[FeedReport, list[Parcel]]:
        raise error

    (failed,) = feed_messages(feed, WORK)
    assert isinstance(failed, Failed)
    assert failed.line.startswith(str(error))
    assert "\n" not in failed.line


def test_a_bug_is_not_hidden() -> None:
    def feed() -> tuple[FeedReport, list[Parcel]]:
        raise KeyError("bug")

    with pytest.raises(KeyError):
        list(feed_messages(feed, WORK))


@pytest.mark.spark
def test_tasks_and_buckets_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    batches = [[odd_row((10 * number + n) * SECOND, n) for n in range(10)] for number in range(2)]
    world = make_world(tmp_path, batches, [query("q", "count(*)", 5 * SECOND, group_by=["k"])], 0)
    program = world.program(world.plan("shared"))
    splits = [Split(str(file), file.stat().st_size) for file in world.files]
    root = tmp_path / "warehouse"
    for folder in ("results", "state", "late"):
        (root / folder).mkdir(parents=True)
    work = Work(str(root), 0, BEGINNING, BEGINNING, buckets=2, is_last=True)
    context = spark.sparkContext
    outcome = SparkExecutor(context, FileTasks(context, [[split] for split in splits]))(program, work)
    assert not outcome.errors
    assert sum(report.events for report in outcome.feeds) == 20
    assert outcome.latest == 19 * SECOND
    assert len(outcome.buckets) == 2
    assert sum(file.rows for report in outcome.buckets for file in report.results) > 0
    adoption = Work(str(root), 0, BEGINNING, BEGINNING, buckets=2, kind="adopt")
    past = [(PastBatch(n, BEGINNING, []), FileTasks(context, [[split]])) for n, split in enumerate(splits)]
    again = SparkExecutor(context, PastTasks(context, past))(program, adoption)
    assert sum(report.events for report in again.feeds) == 20
    assert not [file for report in again.buckets for file in report.results]
    assert [file for report in again.buckets for file in report.state]
    gone = SparkExecutor(context, FileTasks(context, [[Split(str(tmp_path / "gone.parquet"), 1)]]))(program, work)
    assert [line.startswith(str(tmp_path / "gone.parquet")) for line in gone.errors] == [True]
    nothing = SparkExecutor(context, None)(program, work)
    assert (nothing.feeds, len(nothing.buckets)) == ([], 2)
