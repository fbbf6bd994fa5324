"""`corrections`: late events correct emitted windows, whatever the order and cut of arrival and whatever is killed."""

from __future__ import annotations

import random
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

from expectations.check import Choice, check
from jobs.engine.warehouse.consumed_files import RawEvents, raw_events
from jobs.engine.warehouse.ledger import newest_ledger, require_audit, settle
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import Manifest, newest
from jobs.host import stops
from jobs.host.stops import DRIVER_STEPS, KILL_AT, TASK_STEPS
from jobs.host.storage import Storage
from jobs.results import late_table, read_results, results_table
from jobs.runs import on_spark, run
from jobs.runs.backfill import past_of, repair
from jobs.runs.frames import run_table
from jobs.runs.in_process import evaluate_local
from jobs.runs.report import RunReport
from jobs.runs.request import Options
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.write import print_stream
from optimizer.errors import CatalogError
from optimizer.planning.stream import plan_stream
from tests.worlds.sinks import set_stream
from tests.worlds.streams import SECOND, Row, odd_row, table_of
from tests.worlds.warehouse import STREAM, add_batch, event_file, query, write_stream

LATENESS, CORRECTIONS = 3 * SECOND, 20 * SECOND
QUERIES = [
    query("n", "count(*)", 10 * SECOND, 4 * SECOND),
    query("total", "sum(n)", 12 * SECOND, 5 * SECOND, group_by=["k", "i"], offset=SECOND),
    query("both", ["max(y) AS top", "count(x) AS n", "min_by(s, m) AS revision"], 8 * SECOND, group_by=["d"]),
    query("some", "count(DISTINCT m)", 9 * SECOND, 3 * SECOND, group_by=["k"], where="i > 0"),
    query("few", "avg(m)", 7 * SECOND, group_by=["b"]) | {"having": "value < -300"},
]


def make_catalog(folder: Path, lateness: int, **fields: str) -> Catalog:
    write_stream(folder, STREAM, QUERIES, f"{lateness} microseconds")
    return set_stream(folder, **fields)


def arrivals(seed: int, batches: int) -> list[list[Row]]:
    """Two minutes of events, most in order, some so late that windows were corrected, some too late even for that."""
    pick = random.Random(seed)
    delays = [pick.choice([0, 0, 1, 3, 8, 15, 24, 60]) for _ in range(300)]
    events = [(pick.randrange(120 * SECOND), delay * SECOND, code) for code, delay in enumerate(delays)]
    rows = [odd_row(time, seed * 1000 + code) for time, _, code in sorted(events, key=lambda one: one[0] + one[1])]
    cuts = sorted(pick.sample(range(1, 300), batches - 1))
    return [rows[low:high] for low, high in zip([0, *cuts], [*cuts, 300], strict=True)]


def evaluate(folder: Path, catalog: Catalog, files: int) -> RunReport:
    plan = plan_stream(catalog, STREAM, 10.0, "shared", "two_stacks_block")
    return evaluate_local(catalog, plan, str(folder / "warehouse"), Options(files_per_batch=files, buckets=2))


def arrive(folder: Path, batches: list[list[Row]]) -> None:
    for number, batch in enumerate(batches):
        add_batch(folder, number, batch)


def rows_of(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


def ends(table: pa.Table) -> pa.ChunkedArray:
    return pc.struct_field(table["window"], "end").cast(pa.int64())


def assert_corrected(folder: Path, patient: Path, batches: list[list[Row]], corrections: int = CORRECTIONS) -> None:
    """Every answer is that of a stream which waits for late events as long as corrections go on, or of all events."""
    catalog, waits = make_catalog_again(folder), make_catalog_again(patient)
    watermark = newest(stream_storage(str(folder / "warehouse"), STREAM)).watermark
    everything = run_table(catalog, table_of([row for batch in batches for row in batch]))
    for id in catalog.statements:
        answers = results_table(str(folder / "warehouse"), catalog, id)
        old = results_table(str(patient / "warehouse"), waits, id)
        new = everything[id]
        limit = watermark - corrections
        recent = new.filter(pc.and_(pc.greater(ends(new), limit), pc.less_equal(ends(new), watermark)))
        settled = old.filter(pc.less_equal(ends(old), limit))
        assert rows_of(answers) == rows_of(pa.concat_tables([settled, recent])), id


def make_catalog_again(folder: Path) -> Catalog:
    return set_stream(folder)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_newest_revision_has_every_event_within_the_allowance(tmp_path: Path, seed: int) -> None:
    folder, patient, plain = tmp_path / "corrected", tmp_path / "patient", tmp_path / "plain"
    batches = arrivals(seed, 5 if seed else 19)  # some are merged
    catalog = make_catalog(folder, LATENESS, corrections="20 seconds")
    waits, without = make_catalog(patient, LATENESS + CORRECTIONS), make_catalog(plain, LATENESS)
    revisions = []
    for world, each in ((folder, catalog), (patient, waits), (plain, without)):
        arrive(world, batches)
        revisions.append(evaluate(world, each, 1).revisions)
    assert_corrected(folder, patient, batches)
    assert revisions[0] > 0 == revisions[1] == revisions[2]
    warehouse = str(folder / "warehouse")
    for id in catalog.statements:
        name = "heddle_revision" if id == "both" else "revision"
        history = results_table(warehouse, catalog, id, revisions=True)
        first = history.filter(pc.equal(history[name], 0)).drop_columns([name])
        emitted = results_table(str(plain / "warehouse"), without, id)
        assert set(rows_of(emitted)) <= set(rows_of(first)), "the first answers stay as they were"
        if id != "few":
            assert pc.max(history[name]).as_py() >= 1
            by_row: dict[str, list[int]] = {}
            keys = ("window", *catalog.query("both_top" if id == "both" else id).group_by)
            for row in history.to_pylist():
                by_row.setdefault(repr([row[key] for key in keys]), []).append(row[name])
            assert all(numbers == list(range(len(numbers))) for numbers in by_row.values())
    late, missed = late_table(warehouse, STREAM), late_table(str(plain / "warehouse"), STREAM)
    assert rows_of(late.select(missed.column_names)) == rows_of(missed)
    assert 0 < pc.sum(late["windows_corrected"]).as_py() < pc.sum(late["windows_missed"]).as_py()


class Killed(BaseException):
    """The process would be dead here."""


def test_kills_and_other_cuts_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that die, each at another step."""
    folder, patient = tmp_path / "corrected", tmp_path / "patient"
    steps = ("listed", "collected", "feed", "results", "committed", "merged")
    assert set(steps) <= {*DRIVER_STEPS, *TASK_STEPS}
    batches, orders = arrivals(11, len(steps)), tmp_path / "orders"
    orders.mkdir()
    catalog, waits = (
        make_catalog(folder, LATENESS, corrections="20 seconds"),
        make_catalog(patient, LATENESS + CORRECTIONS),
    )

    def kill(process: int, signal: int) -> None:
        raise Killed

    for number, batch in enumerate(batches):
        for world in (folder, patient):
            add_batch(world, number, batch)
        monkeypatch.setenv(KILL_AT, str(orders))
        monkeypatch.setattr(stops.os, "kill", kill)
        (orders / steps[number]).touch()
        with suppress(Killed):
            evaluate(folder, catalog, 1)
        monkeypatch.delenv(KILL_AT)
        evaluate(folder, catalog, 1)
        evaluate(patient, waits, 1)
    assert_corrected(folder, patient, batches)


@pytest.mark.parametrize(
    "lane", ["local", *(pytest.param(lane, marks=pytest.mark.spark) for lane in ("file", "frame"))]
)
def test_files_that_are_gone_are_told_and_nothing_is_corrected_by_half(
    tmp_path: Path, request: pytest.FixtureRequest, lane: str
) -> None:
    """The batch is evaluated once more then, and each of its own windows is answered once."""
    catalog = make_catalog(tmp_path, LATENESS, corrections="20 seconds")
    times = [[0, 10, 20, 30], [31, 40, 45], [29, 44]]
    for number, seconds in enumerate(times):
        add_batch(tmp_path, number, [odd_row(second * SECOND, second) for second in seconds])
        if number == 2:
            event_file(tmp_path, 0).unlink()
        plan, warehouse = plan_stream(catalog, STREAM, 10.0, "shared"), str(tmp_path / "warehouse")
        if lane == "local":
            report = evaluate_local(catalog, plan, warehouse)
        else:
            spark = request.getfixturevalue("spark")
            report = on_spark.evaluate(spark, catalog, plan, warehouse, Options(lane, 1, buckets=2))
    line = "files of earlier batches are gone: emitted windows that hold some of their events are not corrected"
    assert line in report.notes
    (late,) = late_table(str(tmp_path / "warehouse"), STREAM).to_pylist()
    assert (late["windows_missed"] > 0, late["windows_corrected"]) == (True, 0)
    history = results_table(str(tmp_path / "warehouse"), catalog, "n", revisions=True)
    assert set(history["revision"].to_pylist()) == {0}
    starts = pc.struct_field(history["window"], "start").to_pylist()
    assert len(set(starts)) == len(starts) > 0


@pytest.mark.parametrize(("late", "looks"), [([], 0), ([15], 1)])
def test_only_a_batch_that_corrects_looks_for_the_files_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: list[int], looks: int
) -> None:
    calls: list[int] = []

    def look(storage: Storage, manifest: Manifest, since: int) -> RawEvents:
        calls.append(since)
        return raw_events(storage, manifest, since)

    catalog = make_catalog(tmp_path, LATENESS, corrections="20 seconds")
    for number, seconds in enumerate([[0, 10, 20, 30], [31, 40, 45], [46, 50, *late]]):
        add_batch(tmp_path, number, [odd_row(second * SECOND, second) for second in seconds])
    monkeypatch.setattr(run, "raw_events", look)
    evaluate(tmp_path, catalog, 1)
    assert len(calls) == looks


def test_without_the_setting_manifests_and_late_files_say_nothing_of_it(tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path, LATENESS)
    arrive(tmp_path, arrivals(1, 4))
    evaluate(tmp_path, catalog, 1)
    texts = [path.read_text() for path in (tmp_path / "warehouse").rglob("*.json")]
    assert texts
    assert not any(name in text for text in texts for name in ("revised", "corrected_after", "corrections"))
    assert "windows_corrected" not in late_table(str(tmp_path / "warehouse"), STREAM).column_names


PEAK = f"SELECT window, max(m) AS m FROM {STREAM}"


@pytest.mark.parametrize(
    ("fields", "queries", "line"),
    [
        ({"corrections": "0 seconds"}, [], "events: corrections: corrections is '0 seconds'; give a duration"),
        ({"corrections": "soon"}, [], "events: corrections: "),
        (
            {"corrections": "1 day"},
            [{"id": "lately", "stream": STREAM, "select": "sum(m)", "range": "20 rows"}],
            "lately: range: a late event gives all rows after it other numbers, and events has corrections",
        ),
        (
            {"corrections": "1 day", "sinks": {"files": {"format": "parquet", "path": "out"}}},
            [{"id": "bare", "sql": f"SELECT count(x) FROM {STREAM} GROUP BY k, window(ts, '10 seconds')"}],
            "bare: sql: it selects not all of its keys and its window, by which a sink knows corrected rows",
        ),
        (
            {"corrections": "1 day"},
            [{"id": "bare", "sql": f"{PEAK} GROUP BY k, window(ts, '10 seconds')", "alert": "m > 5"}],
            "bare: sql: it selects not all of its keys and its window, by which its alert knows corrected rows",
        ),
        (
            {"corrections": "1 day", "sinks": {"files": {"format": "parquet", "path": "out"}}},
            [{"id": "bare", "sql": f"SELECT windowed, {PEAK[15:]} GROUP BY windowed, window(ts, '10 seconds')"}],
            "bare: sql: it selects not all of its keys and its window",  # though a key is called like one
        ),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, fields: dict[str, Any], queries: list[Any], line: str) -> None:
    write_stream(tmp_path, STREAM, [*QUERIES, *queries], "0 seconds")
    with pytest.raises(CatalogError) as error:
        set_stream(tmp_path, **fields)
    assert line in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_the_setting_is_printed_and_counts_in_the_fingerprint(tmp_path: Path) -> None:
    plain, corrected = make_catalog(tmp_path, 0), set_stream(tmp_path, corrections="1 day")
    assert print_stream(corrected.streams[STREAM])["corrections"] == "1 day"
    assert plain.fingerprint(STREAM) != corrected.fingerprint(STREAM)


SQL = {
    "total": f"SELECT k, window, sum(n) AS total FROM {STREAM} GROUP BY k, window(ts, '12 seconds', '5 seconds')",
    "mixed": f"SELECT window, i, max(m) AS top, percentile(m, 0.5, 2) AS p FROM {STREAM} WHERE i >= 0 "
    "GROUP BY i, window(ts, '9 seconds', '3 seconds')",  # the second by plain Spark
}


def test_on_spark_with_its_audits_and_a_repaired_batch(tmp_path: Path, spark: SparkSession) -> None:
    """Where everything is within the allowance, the newest answers are those of Spark over all events."""
    write_stream(tmp_path, STREAM, [{"id": id, "sql": sql} for id, sql in SQL.items()], "3 seconds")
    catalog, warehouse = set_stream(tmp_path, corrections="1 day"), str(tmp_path / "warehouse")
    plan, storage = plan_stream(catalog, STREAM, 10.0), stream_storage(warehouse, STREAM)
    require_audit(storage)
    batches = arrivals(5, 5)
    for lane, numbers in (("auto", (0, 1, 2)), ("frame", (3, 4))):
        for number in numbers:
            add_batch(tmp_path, number, batches[number])
        on_spark.evaluate(spark, catalog, plan, warehouse, Options(lane, 1, buckets=2))
        manifest = newest(storage)
        if lane == "frame":
            assert any(file.revised and file.batch == 4 for file in manifest.results)
            settle(storage, newest_ledger(storage), manifest, passed=False)
            assert repair(past_of(lambda: spark, catalog, plan, warehouse))["repaired"] == [3, 4]
            manifest = newest(storage)
        assert check(spark, catalog, STREAM, warehouse, Choice(sample=9)).audit.passed
    spark.read.parquet(str(tmp_path / "data")).createOrReplaceTempView(STREAM)
    end = datetime.fromtimestamp(manifest.watermark / SECOND, UTC).isoformat(" ")
    for id, sql in SQL.items():
        ours, history = (
            read_results(spark, warehouse, catalog, id),
            results_table(warehouse, catalog, id, revisions=True),
        )
        assert rows_of(ours.toArrow()) == rows_of(spark.sql(sql).where(f"window.end <= '{end}'").toArrow()), id
        assert rows_of(ours.toArrow()) == rows_of(results_table(warehouse, catalog, id))
        assert rows_of(read_results(spark, warehouse, catalog, id, revisions=True).toArrow()) == rows_of(history)
        assert pc.max(history["revision"]).as_py() >= 1
