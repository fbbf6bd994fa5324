"""Every sink gets every published row once, in order, whatever is killed; one that is down or wrong stops no other."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable
from decimal import Decimal
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from jobs.engine.warehouse import outbox
from jobs.engine.warehouse.ledger import newest_ledger, release, require_audit, settle
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.host import stops
from jobs.host.stops import DELIVERY_STEPS, KILL_AT
from jobs.sinks import SINKS
from jobs.sinks.contract import Place, SinkTable, TableRows
from jobs.sinks.deliver import SinkState, deliver, sink_states
from jobs.sinks.sql import flatten_window
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.streams import SINK_PLACES
from optimizer.errors import HeddleError
from tests.worlds.sinks import (
    READERS,
    arrive,
    assert_delivered,
    evaluate,
    make_sinks_world,
    plain_rows,
    read_sql,
    set_stream,
)
from tests.worlds.warehouse import STREAM

EVERY = tuple(SINKS)


class Killed(BaseException):
    """The process would be dead here."""


@pytest.fixture
def kill_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Stop at the next step of a name, as a process that is killed: nothing of ours catches it."""
    orders = tmp_path / "orders"
    orders.mkdir()

    def kill(process: int, signal: int) -> None:
        raise Killed

    monkeypatch.setenv(KILL_AT, str(orders))
    monkeypatch.setattr(stops.os, "kill", kill)
    return lambda name: (orders / name).touch()


def states(catalog: Catalog, folder: Path) -> list[SinkState]:
    return sink_states(stream_storage(str(folder / "warehouse"), STREAM), catalog.streams[STREAM].sinks)


def test_every_sink_has_its_fields_in_the_catalog_and_its_reader_in_the_tests() -> None:
    assert set(SINKS) == set(SINK_PLACES) == set(READERS)


def test_rows_come_once_in_order_with_their_batch(tmp_path: Path) -> None:
    catalog = make_sinks_world(tmp_path, EVERY)
    for last in (2, 5):
        arrive(tmp_path, *range(last - 2, last))
        warehouse = evaluate(tmp_path, catalog)
        for _ in range(2):
            assert deliver(catalog, STREAM, warehouse, pytest.fail) == []
            for format in EVERY:
                assert_delivered(tmp_path, catalog, format)
    by_window = sorted((row["window_start"], row["batch"]) for row in read_sql(tmp_path, "total"))
    assert [batch for _, batch in by_window] == sorted(batch for _, batch in by_window)
    assert {batch for _, batch in by_window} == {1, 3}  # a batch without its closing ends what the ones before it had
    assert [state.standing for state in states(catalog, tmp_path)] == [outbox.Standing(3, 0)] * len(EVERY)


def test_files_of_delta_say_which_columns_have_nulls(tmp_path: Path) -> None:
    """What is said of every value takes longer than the value; the table takes files of either kind."""
    catalog = make_sinks_world(tmp_path, ("delta",))
    arrive(tmp_path, *range(4))
    deliver(catalog, STREAM, evaluate(tmp_path, catalog), pytest.fail)
    assert_delivered(tmp_path, catalog, "delta")
    said = set()
    for path in (tmp_path / "lake").glob("*/*.parquet"):
        with pq.ParquetFile(path) as file:
            rows = file.read()
            nullable = {field.name: field.nullable for field in file.schema_arrow}
        assert nullable == {name: rows[name].null_count > 0 for name in rows.column_names}
        said |= set(nullable.values())
    assert said == {True, False}


@pytest.mark.parametrize("format", EVERY)
def test_killed_at_any_step_and_run_again(tmp_path: Path, format: str, kill_at: Callable[[str], None]) -> None:
    catalog = make_sinks_world(tmp_path, (format,))
    steps = [name for name in DELIVERY_STEPS if name != "alerts raised"]
    for number, name in enumerate(steps):
        arrive(tmp_path, number)
        kill_at(name)
        killed = 0
        for _ in range(3):
            try:
                deliver(catalog, STREAM, evaluate(tmp_path, catalog), pytest.fail)
            except Killed:
                killed += 1
        assert killed or not number, name  # nothing ends in the first batch
        deliver(catalog, STREAM, str(tmp_path / "warehouse"), pytest.fail)
        if number:
            assert_delivered(tmp_path, catalog, format)


def test_a_sink_that_is_down_stops_nothing_and_is_caught_up(tmp_path: Path) -> None:
    catalog = make_sinks_world(tmp_path, ("parquet", "delta"))
    (tmp_path / "lake").write_text("no folder")
    lines: list[str] = []
    for numbers in (range(2), range(2, 20)):  # enough for result files to be merged
        arrive(tmp_path, *numbers)
        warehouse = evaluate(tmp_path, catalog)
        deliver(catalog, STREAM, warehouse, lines.append)
    assert_delivered(tmp_path, catalog, "parquet")
    assert len(lines) == 2
    assert lines[0].startswith(f"{STREAM}: sink delta is down (")
    assert len(lines[0].splitlines()) == 1
    assert any(file.tier for file in newest(stream_storage(warehouse, STREAM)).results)
    behind = {state.name: state.standing.behind for state in states(catalog, tmp_path)}
    assert behind["parquet"] == 0
    assert behind["delta"] >= 19
    assert [state.line for state in states(catalog, tmp_path) if " has nothing yet; " in state.line]
    (tmp_path / "lake").unlink()
    deliver(catalog, STREAM, warehouse, pytest.fail)
    assert_delivered(tmp_path, catalog, "delta")
    batches = DeltaTable(str(tmp_path / "lake" / "total")).to_pyarrow_table()["batch"].unique().to_pylist()
    assert sorted(batches) == [1, *range(3, 20)]
    storage = stream_storage(warehouse, STREAM)
    assert len(list(storage.names(outbox.FOLDER))) <= 2
    evaluate(tmp_path, catalog)
    live = {file.name for file in newest(storage).results} | outbox.waiting_files(storage)
    assert {file.name for file in newest(storage).results} <= live


def test_a_warehouse_that_cannot_be_written_is_one_line_and_delivers_nothing(tmp_path: Path) -> None:
    catalog = make_sinks_world(tmp_path, ("parquet",))
    arrive(tmp_path, 0, 1)
    warehouse = evaluate(tmp_path, catalog)
    lock = Path(warehouse, STREAM, "delivery.lock")
    lock.mkdir()
    with pytest.raises(HeddleError, match=r"events: cannot be written \(.*\); mend the folder, then publish") as error:
        deliver(catalog, STREAM, warehouse, pytest.fail)
    assert len(str(error.value).splitlines()) == 1
    assert not (tmp_path / "files").exists()
    lock.rmdir()
    deliver(catalog, STREAM, warehouse, pytest.fail)
    assert_delivered(tmp_path, catalog, "parquet")


def test_commits_of_others_to_a_delta_table_are_kept(tmp_path: Path) -> None:
    """Our own commit is followed without a look at the log; one of somebody else, or a feature, is not passed over."""
    catalog, table = make_sinks_world(tmp_path, ("delta",)), str(tmp_path / "lake" / "total")
    heads = []
    for number in range(7):
        arrive(tmp_path, number)
        deliver(catalog, STREAM, evaluate(tmp_path, catalog), pytest.fail)
        if number == 2:
            DeltaTable(table).optimize.compact()
        if number == 4:
            DeltaTable(table).alter.set_table_properties({"delta.appendOnly": "true"})
        if number:
            heads.append("heddle" in DeltaTable(table).history(1)[0])
    assert heads == [True, False, True, False, False, False], "followed, compacted, followed, and then with a setting"
    assert_delivered(tmp_path, catalog, "delta")


def test_a_sink_that_joins_later_gets_all_that_is_published(tmp_path: Path) -> None:
    catalog = make_sinks_world(tmp_path, ())
    arrive(tmp_path, 0, 1, 2)
    evaluate(tmp_path, catalog)
    catalog = set_stream(tmp_path, sinks={"parquet": {"format": "parquet", "path": str(tmp_path / "files")}})
    deliver(catalog, STREAM, str(tmp_path / "warehouse"), pytest.fail)
    assert_delivered(tmp_path, catalog, "parquet")
    catalog = set_stream(
        tmp_path,
        sinks={
            "parquet": {"format": "parquet", "path": str(tmp_path / "files")},
            "delta": {"format": "delta", "path": str(tmp_path / "lake")},
        },
    )
    arrive(tmp_path, 3)
    deliver(catalog, STREAM, evaluate(tmp_path, catalog), pytest.fail)
    for format in ("parquet", "delta"):
        assert_delivered(tmp_path, catalog, format)
    without = set_stream(tmp_path, sinks={"delta": {"format": "delta", "path": str(tmp_path / "lake")}})
    for number in (4, 5):
        arrive(tmp_path, number)
        deliver(without, STREAM, evaluate(tmp_path, without), pytest.fail)
    with pytest.raises(
        HeddleError, match=r"parquet has missed publications 3 to 4, .* while the catalog did not name it"
    ):
        deliver(catalog, STREAM, str(tmp_path / "warehouse"), pytest.fail)
    assert_delivered(tmp_path, catalog, "delta")


def test_only_published_rows_are_delivered_and_a_released_batch_follows(tmp_path: Path) -> None:
    catalog = make_sinks_world(tmp_path, EVERY)
    storage = stream_storage(str(tmp_path / "warehouse"), STREAM)
    require_audit(storage)
    for number, passed in enumerate((True, False, True)):
        arrive(tmp_path, number)
        evaluate(tmp_path, catalog)
        deliver(catalog, STREAM, str(tmp_path / "warehouse"), pytest.fail)
        settle(storage, newest_ledger(storage), newest(storage), passed)
    deliver(catalog, STREAM, str(tmp_path / "warehouse"), pytest.fail)
    for format in EVERY:
        assert_delivered(tmp_path, catalog, format)
    assert {row["batch"] for row in read_sql(tmp_path, "total")} == {0, 2}
    release(storage, 1)
    deliver(catalog, STREAM, str(tmp_path / "warehouse"), pytest.fail)
    for format in EVERY:
        assert_delivered(tmp_path, catalog, format)
    assert {row["batch"] for row in read_sql(tmp_path, "total")} == {0, 1, 2}


@pytest.mark.parametrize("format", EVERY)
def test_a_table_with_other_columns_is_refused_in_a_line_and_others_go_on(tmp_path: Path, format: str) -> None:
    catalog = make_sinks_world(tmp_path, tuple(dict.fromkeys((format, "parquet", "delta"))))
    PLANT[format](tmp_path)
    arrive(tmp_path, 0, 1)
    warehouse = evaluate(tmp_path, catalog)
    with pytest.raises(
        HeddleError, match=f"sink {format}: the table total has strange .*; nothing was written"
    ) as error:
        deliver(catalog, STREAM, warehouse, pytest.fail)
    assert len(str(error.value).splitlines()) == 1
    assert_delivered(tmp_path, catalog, "delta" if format != "delta" else "parquet")
    for other in ("both", "texts"):
        with pytest.raises(Exception):  # noqa: B017, PT011 (each library has its own for what is not there)
            READERS[format](tmp_path, other)


def _plant_iceberg(folder: Path) -> None:
    from pyiceberg.catalog import load_catalog

    (folder / "ice").mkdir()
    place = {"type": "sql", "uri": f"sqlite:///{folder}/ice/catalog.db", "warehouse": (folder / "ice").as_uri()}
    catalog = load_catalog("heddle", **place)
    catalog.create_namespace("heddle")
    catalog.create_table(("heddle", "total"), pa.schema([("strange", pa.int64())]))


def _plant_parquet(folder: Path) -> None:
    (folder / "files" / "total").mkdir(parents=True)
    pq.write_table(pa.table({"strange": [1]}), folder / "files" / "total" / "mine.parquet")


def _plant_sql(folder: Path) -> None:
    with sqlite3.connect(folder / "answers.db") as connection:
        connection.execute("CREATE TABLE total (strange BIGINT)")


PLANT: dict[str, Callable[[Path], None]] = {
    "parquet": _plant_parquet,
    "delta": lambda folder: write_deltalake(str(folder / "lake" / "total"), pa.table({"strange": [1]})),
    "iceberg": _plant_iceberg,
    "sql": _plant_sql,
}


@pytest.mark.parametrize("format", EVERY)
def test_what_another_warehouse_filled_is_refused(tmp_path: Path, format: str) -> None:
    catalog = make_sinks_world(tmp_path, (format,))
    arrive(tmp_path, 0, 1)
    deliver(catalog, STREAM, evaluate(tmp_path, catalog), pytest.fail)
    (tmp_path / "warehouse").rename(tmp_path / "old")
    with pytest.raises(HeddleError, match=f"sink {format}: .* was filled by something else"):
        deliver(catalog, STREAM, evaluate(tmp_path, catalog), pytest.fail)
    assert_delivered(tmp_path, catalog, format)


def test_a_row_that_comes_again_takes_the_place_of_the_one_that_is_there(tmp_path: Path) -> None:
    """Also where its key is null."""
    catalog = make_sinks_world(tmp_path, ("sql",))
    arrive(tmp_path, 0, 1)
    warehouse = evaluate(tmp_path, catalog)
    deliver(catalog, STREAM, warehouse, pytest.fail)
    before = read_sql(tmp_path, "total")
    assert any(row["k"] is None for row in before)
    with sqlite3.connect(tmp_path / "answers.db") as connection:
        connection.execute("DELETE FROM heddle_batches")
        connection.execute('UPDATE total SET "sum(n)" = 0')
        connection.execute("DELETE FROM bare")  # which selects no key: its rows cannot be told apart
    storage = stream_storage(warehouse, STREAM)
    for name in [*storage.names(outbox.MARKS), *storage.names(outbox.FOLDER)]:
        storage.delete(name)
    outbox.begin_with_all(storage, "sql")
    head = outbox.open_outbox(storage)
    with sqlite3.connect(tmp_path / "answers.db") as connection:
        connection.execute("INSERT INTO heddle_batches VALUES (?, -1, -1, ?)", (STREAM, head.warehouse))
    deliver(catalog, STREAM, warehouse, pytest.fail)
    assert_delivered(tmp_path, catalog, "sql")


@pytest.mark.parametrize("format", EVERY)
def test_every_type_of_an_answer_is_kept(tmp_path: Path, format: str) -> None:
    zoned, naive = pa.timestamp("us", "UTC"), pa.timestamp("us")
    ends = [pa.array([5, None], kind) for kind in (naive, naive)]
    columns = {
        "window": pa.StructArray.from_arrays(ends, ["start", "end"]),
        "sum(m)": pa.array([Decimal("12345678901234567890.25"), None], pa.decimal128(30, 2)),
        "small": pa.array([-3, None], pa.int8()),
        "flag": pa.array([True, None]),
        "day": pa.array([19000, None], pa.int32()).cast(pa.date32()),
        "raw": pa.array([b"\x00\xff", None]),
        "at": pa.array([7, None], zoned),
        "many": pa.array([[1.5, None], None], pa.list_(pa.float64())),
        "half": pa.array([0.5, None], pa.float32()),
        "batch": pa.array([4, 4], pa.int64()),
    }
    rows = pa.table(columns)
    table = SinkTable("odd", rows.schema, ())
    catalog = make_sinks_world(tmp_path, (format,))
    place = Place(catalog.streams[STREAM].sinks[0], STREAM, "here")
    for _ in range(2):
        sink = import_module(SINKS[format]).open_sink(place)
        sink.check([table])
        sink.write(3, 4, [TableRows(table, rows)])
    there = READERS[format](tmp_path, "odd")
    if format != "sql":
        there, rows = there.to_pylist(), rows.to_pylist()
    else:
        rows = flatten_window(rows.set_column(7, "many", [["[1.5, null]", None]])).to_pylist()
    assert plain_rows(there) == plain_rows(rows)


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()], ids=str)
@pytest.mark.parametrize("format", EVERY)
def test_keys_that_are_hard_to_tell_apart_have_a_row_each_and_are_corrected(
    tmp_path: Path, format: str, kind: pa.DataType
) -> None:
    """A NaN, a null and the infinities, in one window; then every other row is corrected, the last one away."""
    keys = [math.nan, None, math.inf, -math.inf, 0.0, 1.5]
    starts = pa.array([0] * len(keys), pa.timestamp("us"))
    windows = pa.StructArray.from_arrays([starts, starts], ["start", "end"])

    def rows_of(places: list[int], value: int) -> pa.Table:
        taken = pa.array(places)
        columns = {"f": pa.array(keys, kind).take(taken), "window": windows.take(taken)}
        return pa.table({**columns, "n": [value] * len(places), "batch": pa.array([value] * len(places), pa.int64())})

    first, corrected = rows_of([0, 1, 2, 3, 4, 5], 1), rows_of([0, 2, 4], 2)
    table = SinkTable("odd", first.schema, ("f", "window"))
    place = Place(make_sinks_world(tmp_path, (format,)).streams[STREAM].sinks[0], STREAM, "here")
    replaced = rows_of([0, 2, 4, 5], 2).select(["f", "window"])
    for number, rows in enumerate((TableRows(table, first), TableRows(table, corrected, replaced))):
        sink = import_module(SINKS[format]).open_sink(place)
        sink.check([table])
        sink.write(number + 1, number + 1, [rows])
    there = READERS[format](tmp_path, "odd")
    there = there.to_pylist() if isinstance(there, pa.Table) else there
    expected = pa.concat_tables([rows_of([1, 3], 1), corrected]).to_pylist()
    assert plain_rows(there) == plain_rows(expected)


ALIKE = [
    ("a b", "a_b"),
    ("a.b", "a_b"),
    (".a", "a"),
    ("place of row", "row"),
    ("key 0", "key_0"),
]
ALIKE += [("%s", "P"), (":a", "Ca"), ("(", "A"), ("[", "_"), ("c1", "c0"), ("é", "e"), ("'", '"'), ("select", "from")]


@pytest.mark.parametrize("names", ALIKE, ids=str)
@pytest.mark.parametrize("format", EVERY)
def test_columns_of_names_that_a_library_could_take_for_each_other(
    tmp_path: Path, format: str, names: tuple[str, str]
) -> None:
    """Two keys, and two answers; one row is corrected, of the two that differ in one key alone, and SQL is given it
    once more, as a sink that has lost what it remembers is."""
    starts = pa.array([0, 0, 0], pa.timestamp("us"))
    windows = pa.StructArray.from_arrays([starts, starts], ["start", "end"])
    for places in ((0, 1, 2, 3), (2, 3, 0, 1)):
        columns = [pa.array([1, 1, 2]), pa.array([1, 2, 1]), pa.array([10, 20, 30]), pa.array([40, 50, 60])]
        own = [(*names, "x", "y")[place] for place in places]
        first = pa.table({**dict(zip(own, columns, strict=True)), "window": windows, "batch": pa.array([1, 1, 1])})
        corrected = first.slice(1, 1).set_column(2, own[2], pa.array([21]))
        table = SinkTable(f"odd{places[0]}", first.schema, (own[0], own[1], "window"))
        place = Place(make_sinks_world(tmp_path / table.name, (format,)).streams[STREAM].sinks[0], STREAM, "here")
        replaced = corrected.select([own[0], own[1], "window"])
        again = [TableRows(table, corrected)] if format == "sql" else []
        for number, rows in enumerate((TableRows(table, first), TableRows(table, corrected, replaced), *again)):
            sink = import_module(SINKS[format]).open_sink(place)
            sink.check([table])
            sink.write(number + 1, number + 1, [rows])
        there = READERS[format](tmp_path / table.name, table.name)
        there = there.to_pylist() if isinstance(there, pa.Table) else there
        assert plain_rows(there) == plain_rows([*first.slice(0, 1).to_pylist(), *corrected.to_pylist(),
                                                *first.slice(2).to_pylist()])  # fmt: skip


def test_an_address_is_in_the_environment_and_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_sinks_world(tmp_path, ())
    catalog = set_stream(tmp_path, sinks={"pg": {"format": "sql", "url": "env:HEDDLE_TEST_PG"}})
    arrive(tmp_path, 0, 1)
    warehouse = evaluate(tmp_path, catalog)
    with pytest.raises(HeddleError, match="env:HEDDLE_TEST_PG: the environment variable HEDDLE_TEST_PG is not set"):
        deliver(catalog, STREAM, warehouse, pytest.fail)
    monkeypatch.setenv("HEDDLE_TEST_PG", "postgresql://me:hunter2@127.0.0.1:1/answers")
    lines: list[str] = []
    deliver(catalog, STREAM, warehouse, lines.append)
    assert len(lines) == 1
    assert "sink pg is down" in lines[0]
    monkeypatch.setenv("HEDDLE_TEST_PG", "hunter2")
    with pytest.raises(HeddleError, match="holds no address of a database") as error:
        deliver(catalog, STREAM, warehouse, pytest.fail)
    kept = "".join(path.read_text(errors="replace") for path in Path(warehouse).rglob("*") if path.is_file())
    assert "hunter2" not in kept + lines[0] + str(error.value) + json.dumps(repr(catalog.streams[STREAM]))
