"""A past interval computed anew: into a warehouse of its own, and in place of a quarantined batch."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
import typer
from pyspark.sql import SparkSession

from expectations.check import Choice, check
from jobs.backfill import make_backfill
from jobs.engine.warehouse.ledger import newest_ledger, require_audit
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.engine.warehouse.read_answers import read_answers
from jobs.engine.warehouse.state_files import load_retained
from jobs.engine.warehouse.statements import published_files
from jobs.host.command_line import takes
from jobs.results import results_table
from jobs.runs.backfill import Backfill
from jobs.runs.request import Request
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING, Window
from tests.expectations.test_check import tamper
from tests.jobs.engine.row_questions import RowQuestion, in_order
from tests.whole.faults.plan_runs import Changing, published
from tests.whole.faults.test_plan_changes import LATENESS, full_batch, question
from tests.worlds import audited
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import STREAM

LOW, HIGH = 31 * SECOND, 77 * SECOND
TIMES = ("1970-01-01T00:00:31", "1970-01-01T00:01:17+00:00")


def parse(arguments: list[str]) -> Backfill:
    """The backfill of a command line."""
    app = typer.Typer()
    app.command()(takes(make_backfill)(lambda past: past))
    return app(arguments, standalone_mode=False)


@pytest.fixture
def world(tmp_path: Path) -> Changing:
    """Four batches, evaluated; then a query joins the catalog whose past nobody has computed."""
    made = Changing(tmp_path)
    made.arrive(*map(full_batch, range(3)), [*full_batch(3), *full_batch(1)])  # some of them come far too late
    made.run({"q": question("sum", "n", 20, 4)}, LATENESS, "shared")
    made.plan(ASKED, LATENESS, "shared")
    return made


ASKED = {"q": question("sum", "n", 20, 4), "new": question("max", "s", 30, 7)}


def request(world: Changing) -> Request:
    return Request(str(world.folder / "catalog"), STREAM, world.warehouse)


@pytest.mark.parametrize(("low", "after"), [(TIMES[0], LOW), ("", BEGINNING)], ids=["a span", "all before"])
def test_into_a_warehouse_of_its_own(spark: SparkSession, world: Changing, low: str, after: int) -> None:
    before, into = world.manifest, str(world.folder / "past")
    outcome = Backfill(request(world), low, TIMES[1], into).run(lambda: spark, lambda line: None)
    assert world.manifest == before
    catalog = load_catalog(world.folder / "catalog")
    labels = {label: ASKED[label.partition("@")[0]] for label in newest_labels(into)}
    found = published(into, labels)
    events = [row for batch in world.batches for row in batch]
    for label, asked in labels.items():
        held = {
            place: rows for place, rows in asked.held(events).items() if after < place[1] + asked.window.range <= HIGH
        }
        assert found[label].keys() == held.keys()
        assert all(asked.fits(rows, found[label][place]) for place, rows in held.items())
    assert outcome["results"] == sum(map(len, found.values())) > 0
    assert results_table(into, catalog, "new").num_rows == len(next(v for k, v in found.items() if k[:3] == "new"))
    audit = check(spark, catalog, STREAM, into, Choice(everything=True)).audit
    assert (audit.passed, audit.statements) == (True, 2)
    with pytest.raises(HeddleError, match="holds results already"):
        Backfill(request(world), *TIMES, into).run(lambda: spark, lambda line: None)
    with pytest.raises(HeddleError, match="holds a backfill, which cannot go on"):
        Changing.run(Past(world.folder, into), ASKED, LATENESS, "shared")


IN_ROWS = {
    "short": RowQuestion("sum", "n", "", "", ("k",), Window(7, 2, rows=True)),
    "long": RowQuestion("max", "s", "", "b", (), Window(20, 3, rows=True)),
}


def test_windows_in_rows(spark: SparkSession, world: Changing) -> None:
    """Those that become full in the interval, counted from the first event on; no event is late in the past."""
    world.plan({**IN_ROWS, "new": ASKED["new"]}, LATENESS, "shared")
    into = str(world.folder / "past")
    Backfill(request(world), *TIMES, into).run(lambda: spark, lambda line: None)
    labels = {label: ({**ASKED, **IN_ROWS})[label.partition("@")[0]] for label in newest_labels(into)}
    found = published(into, labels)
    for label, asked in labels.items():
        if isinstance(asked, RowQuestion):
            full = asked.windows(in_order(world.batches, HIGH))
            before = asked.windows(in_order(world.batches, LOW))
            assert found[label].keys() == full.keys() - before.keys() != set()
            assert all(asked.fits(full[place], value) for place, value in found[label].items())
    audit = check(spark, load_catalog(world.folder / "catalog"), STREAM, into, Choice(everything=True)).audit
    assert (audit.passed, audit.statements) == (True, 3)


class Past(Changing):
    """The same world, its warehouse the one of a backfill."""

    def __init__(self, folder: Path, into: str) -> None:
        self.folder, self.into, self.batches, self.expected = folder, into, [], {}

    @property
    def warehouse(self) -> str:
        return self.into


def results_table_of(world: audited.World, id: str) -> pa.Table:
    """Its answers, published or not."""
    published = published_files(world.warehouse, world.catalog, id)
    results = newest(world.storage).results
    files = tuple(file for file in results if file.grouping == published.statement.grouping)
    return read_answers(published._replace(files=files))


def newest_labels(warehouse: str) -> list[str]:
    """The queries of a warehouse."""
    storage = stream_storage(warehouse, STREAM)
    return sorted(load_retained(storage, newest(storage).standing).answered_after)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("", "", ""), "give --to, and --from unless all before it is meant; or --repair alone"),
        (("yesterday", TIMES[1], "past"), "--from 'yesterday' is no time"),
        ((TIMES[0], "2000-01-01", "past"), "--to not after the watermark, 1970-01-01 00:01:57Z"),
    ],
)
def test_refused(spark: SparkSession, world: Changing, options: tuple[str, str, str], line: str) -> None:
    with pytest.raises(HeddleError, match=line) as caught:
        Backfill(request(world), *options).run(lambda: spark, lambda line: None)
    assert "\n" not in str(caught.value)


def test_files_that_are_gone(spark: SparkSession, world: Changing) -> None:
    (world.folder / "data" / "part-00001.parquet").unlink()
    with pytest.raises(HeddleError, match=r"files that hold events before .* are gone; choose a later --from"):
        Backfill(request(world), *TIMES, str(world.folder / "past")).run(lambda: spark, lambda line: None)


def test_a_quarantined_batch_is_repaired(spark: SparkSession, tmp_path: Path) -> None:
    """Late events of later batches do not count in it; its audit passes, and its rows are those of before."""
    world = audited.make_world(tmp_path)
    require_audit(world.storage)
    for number in range(3):
        world.arrive(number, seed=number)
    world.evaluate(files_per_batch=1)
    right = {id: results_table_of(world, id) for id in world.catalog.statements}
    tamper(world)
    assert not check(spark, world.catalog, audited.STREAM, world.warehouse, Choice(everything=True)).audit.passed
    state = newest(world.storage).state
    arguments = [str(tmp_path / "catalog"), "--stream", audited.STREAM, "--warehouse", world.warehouse, "--repair"]
    outcome = parse(arguments).run(lambda: spark, lambda line: None)
    assert outcome["repaired"] == [1, 2]
    assert newest(world.storage).state == state
    passed = check(spark, world.catalog, audited.STREAM, world.warehouse, Choice(everything=True))
    assert passed.audit.passed
    assert passed.published == [1, 2]
    assert not newest_ledger(world.storage).pending(newest(world.storage).results)
    for id, table in right.items():
        assert table.num_rows
        assert str(results_table(world.warehouse, world.catalog, id).to_pylist()) == str(table.to_pylist())
    with pytest.raises(HeddleError, match="no batch is quarantined; there is nothing to repair"):
        parse(arguments).run(lambda: spark, lambda line: None)
