"""Streams of Delta and Iceberg tables: the answers of the same rows in plain files, however appends, rewrites and kills
fall between the batches; what takes rows back is refused in one line."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from expectations.check import Choice, check
from jobs.engine.sources import SOURCES
from jobs.engine.sources.contract import File
from jobs.engine.warehouse.consumed_files import add_record, load_records
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.measure.stream import measure_stream
from jobs.results import results_table
from jobs.runs.in_process import evaluate_local
from jobs.runs.on_spark import evaluate
from jobs.runs.report import RunReport
from optimizer.catalog.model.query import Stream
from optimizer.errors import HeddleError
from optimizer.planning.stream import plan_stream
from tests.worlds.tables import (
    FORMATS,
    KEYS_AND_DECIMALS,
    LENGTHS,
    QUERIES,
    STREAM,
    TableWorld,
    append_and_widen,
    in_files,
    rows,
)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("format", FORMATS)
def test_appends_rewrites_and_cuts_give_the_rows_of_plain_files(tmp_path: Path, format: str, seed: int) -> None:
    world, draw = TableWorld(tmp_path, format), random.Random(seed)
    tables = [rows(number) for number in range(6)]
    world.append(tables[0])
    catalog, events = world.catalog(), 0
    for table in tables[1:]:
        if draw.random() < 0.6:
            events += world.evaluate(catalog, files=draw.choice([0, 1, 2]))
        world.append(table)
        if draw.random() < 0.4:
            world.compact()
    events += world.evaluate(catalog, files=1)
    assert events == 240
    assert world.evaluate(catalog) == 0
    assert world.answers(catalog) == in_files(world, tables)
    offset = json.loads(newest(stream_storage(str(tmp_path / "w"), STREAM)).offset)
    assert offset["done"] is not None


@pytest.mark.parametrize("format", FORMATS)
def test_a_batch_reads_what_the_log_has_added_and_lists_no_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    assert_lists_no_table(TableWorld(tmp_path, format), monkeypatch, evaluate_local)


def test_neither_does_a_batch_on_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> None:
    assert_lists_no_table(TableWorld(tmp_path, "delta"), monkeypatch, partial(evaluate, spark))


def assert_lists_no_table(world: TableWorld, monkeypatch: pytest.MonkeyPatch, run: Callable[..., RunReport]) -> None:
    """The listing of a table grows with its age."""

    def refuse(stream: Stream) -> list[File]:
        raise AssertionError(f"{stream.name} was listed")

    world.append(rows(0))
    catalog, warehouse = world.catalog(), str(world.folder / "w")
    plan = plan_stream(catalog, STREAM, 10.0)
    monkeypatch.setitem(SOURCES, world.format, replace(SOURCES[world.format], list_files=refuse))
    assert run(catalog, plan, warehouse).events == len(rows(0))
    world.append(rows(1))
    assert run(catalog, plan, warehouse).events == len(rows(1))


@pytest.mark.parametrize("format", FORMATS)
def test_a_batch_that_died_is_run_again_with_its_files(tmp_path: Path, format: str) -> None:
    """The record was written, the manifest was not; meanwhile the table was rewritten and has grown."""
    world = TableWorld(tmp_path, format)
    world.append(rows(0))
    catalog = world.catalog()
    world.evaluate(catalog)
    world.append(rows(1))
    whole = TableWorld(tmp_path, format).evaluate(catalog, "probe", 0)
    storage = stream_storage(str(tmp_path / "w"), STREAM)
    probe = load_records(stream_storage(str(tmp_path / "probe"), STREAM))[0]
    fresh = [file for file in probe.files if file.path not in {f.path for f in load_records(storage)[0].files}]
    add_record(storage, load_records(storage), 1, fresh, offset=probe.offset)
    world.compact()
    world.append(rows(2))
    assert whole == 80
    assert world.evaluate(catalog) == 80
    assert world.answers(catalog) == in_files(world, [rows(0), rows(1), rows(2)])


@pytest.mark.parametrize("format", FORMATS)
def test_a_delete_stops_the_stream_in_one_line(tmp_path: Path, format: str) -> None:
    world = TableWorld(tmp_path, format)
    world.append(rows(0))
    catalog = world.catalog()
    world.evaluate(catalog)
    before = world.answers(catalog)
    world.append(rows(1))
    world.delete()
    with pytest.raises(HeddleError, match=r"deletes or updates rows .*appends only; evaluate into a new --warehouse"):
        world.evaluate(catalog)
    assert world.answers(catalog) == before
    assert len(load_records(stream_storage(str(tmp_path / "w"), STREAM))) == 1
    assert world.evaluate(catalog, "anew") > 0


@pytest.mark.parametrize("format", FORMATS)
def test_a_schema_that_evolves(tmp_path: Path, format: str) -> None:
    """A column that older files lack is null in them, and a wider type is that of all."""
    world = TableWorld(tmp_path, format)
    world.append(rows(0))
    world.append(rows(1, y=[1.5] * 40))
    query = {"id": "ys", "stream": STREAM, "select": ["sum(y) AS y", "count(*) AS n"], "group_by": ["k"], **LENGTHS}
    catalog = world.catalog([*QUERIES, query])
    assert world.evaluate(catalog, files=1) == 80
    nulls = rows(0).append_column("y", pa.nulls(40, pa.float64()))
    world.append(rows(2, y=[1.5] * 40))
    world.evaluate(catalog)
    assert world.answers(catalog)[:2] == in_files(world, [nulls, rows(1), rows(2)])
    first, *_, last = results_table(str(tmp_path / "w"), catalog, "ys").sort_by("window").to_pylist()
    assert (first["y"], last["y"]) == (None, last["n"] * 1.5) or last["y"] is not None


@pytest.mark.parametrize("format", FORMATS)
def test_a_column_that_is_widened_between_runs(tmp_path: Path, format: str) -> None:
    """Windows that hold events of both types, and answers that were written in the narrower one."""
    world, large = TableWorld(tmp_path, format), pa.array([1 << 31, 7] * 20, pa.int64())
    query = {
        "id": "square",
        "stream": STREAM,
        "select": ["max(x * x) AS m", "approx_count_distinct(x) AS d"],
        **LENGTHS,
    }
    catalog = world.catalog([*QUERIES, query])
    world.append(rows(0))
    world.evaluate(catalog)
    world.widen("x")
    tables = [rows(number).set_column(2, "x", large) for number in (1, 2)]
    for table in tables:
        world.append(table)
        world.evaluate(catalog)
    wide = [table.set_column(2, "x", table["x"].cast(pa.int64())) for table in (rows(0), *tables)]
    assert world.answers(catalog) == in_files(world, wide, [*QUERIES, query])
    assert results_table(str(tmp_path / "w"), catalog, "some").schema.field("top").type == pa.int64()


@pytest.mark.parametrize("format", FORMATS)
def test_keys_and_decimals_that_are_widened_between_runs(tmp_path: Path, format: str) -> None:
    world = TableWorld(tmp_path, format)
    world.append(rows(0, d=pa.array([None] * 40, pa.decimal128(5, 2))).slice(0, 0))
    catalog = world.catalog(KEYS_AND_DECIMALS)
    wide = append_and_widen(world, lambda: world.evaluate(catalog))
    assert world.answers(catalog) == in_files(world, wide, KEYS_AND_DECIMALS)
    kinds = results_table(str(tmp_path / "w"), catalog, "by_number").schema
    assert (kinds.field("x").type, kinds.field("s").type) == (pa.int64(), pa.decimal128(22, 2))


def test_columns_of_iceberg_are_known_by_their_ids(tmp_path: Path) -> None:
    """A renamed column is the same, and a new one with its old name is another."""
    world = TableWorld(tmp_path, "iceberg")
    world.append(rows(0))
    with world.iceberg().update_schema() as update:
        update.rename_column("x", "was_x")
    world.append(rows(1, was_x=[7] * 40).drop_columns("x").cast(_renamed()))
    query = {"id": "sums", "stream": STREAM, "select": ["sum(was_x) AS was", "count(*) AS n"], **LENGTHS}
    catalog = world.catalog([query])
    world.evaluate(catalog)
    with_x = [rows(0), rows(1, 40)]
    with_x[1] = with_x[1].set_column(2, "x", pa.array([7] * 40, pa.int32()))
    folder = tmp_path / "plain"
    folder.mkdir()
    for number, table in enumerate(with_x):
        pq.write_table(table, folder / f"{number}.parquet")
    plain = world.catalog(
        [{**query, "select": ["sum(x) AS was", "count(*) AS n"]}], {"format": "parquet", "path": str(folder)}
    )
    world.evaluate(plain, "plain_w")
    assert world.answers(catalog) == world.answers(plain, "plain_w")


def _renamed() -> pa.Schema:
    return pa.schema([("ts", pa.timestamp("us", "UTC")), ("k", pa.string()), ("was_x", pa.int32())])


def test_partition_values_of_delta_come_from_its_log(tmp_path: Path) -> None:
    """Whatever the folders are called, and nulls among them; from a checkpoint as from a commit."""
    world = TableWorld(tmp_path, "delta")
    days = [*[pa.scalar(1, pa.date32())] * 20, *[pa.scalar(None, pa.date32())] * 20]
    for number in range(3):
        table = rows(number, d=pa.array([day.as_py() for day in days], pa.date32()))
        table = table.set_column(1, "k", pa.array(["a:b c", None] * 20))
        write_deltalake(world.path, table, mode="append", partition_by=["k", "d"])
        if number == 1:
            DeltaTable(world.path).create_checkpoint()
            catalog = world.catalog([{**QUERIES[0], "group_by": ["k", "d"]}])
            world.evaluate(catalog)
    world.evaluate(catalog)
    keys = {(row["k"], str(row["d"])) for row in world.answers(catalog)[0]}
    assert keys == {("a:b c", "1970-01-02"), (None, "1970-01-02"), ("a:b c", "None"), (None, "None")}
    assert measure_stream(catalog, STREAM, None).recent is not None


def test_column_mapping_of_delta(tmp_path: Path) -> None:
    """Files and log call a column by its physical name, under which the catalog does not know it."""
    world = TableWorld(tmp_path, "delta")
    physical = rows(0).rename_columns(["ts", "col-k", "col-x"])
    write_deltalake(world.path, physical, partition_by=["col-k"])
    map_columns(world.path)
    catalog = world.catalog()
    world.evaluate(catalog)
    assert world.answers(catalog) == in_files(world, [rows(0)])


def with_structures(table: pa.Table) -> pa.Table:
    """The rows with columns that are made of others beside them."""
    places = [{"a": value, "x": -value} for value in table["x"].to_pylist()]
    pairs = pa.array([[("p", 1)]] * len(table), pa.map_(pa.string(), pa.int64()))
    made = {"s": pa.array(places), "l": pa.array([[1, 2]] * len(table)), "m": pairs}
    return pa.table({"s": made["s"], **{name: table[name] for name in table.column_names}, **made})


@pytest.mark.parametrize("format", FORMATS)
def test_structures_beside_the_columns_that_are_read(tmp_path: Path, format: str) -> None:
    world = TableWorld(tmp_path, format)
    world.append(with_structures(rows(0)))
    catalog = world.catalog()
    world.evaluate(catalog)
    world.append(with_structures(rows(1)))
    world.evaluate(catalog)
    assert world.answers(catalog) == in_files(world, [rows(0), rows(1)])


@pytest.mark.parametrize("select", ["sum(s.a)", "count(s)", {"where": "s.a > 1"}])
@pytest.mark.parametrize("format", FORMATS)
def test_what_is_asked_of_structures_is_left_to_spark_in_one_line(
    tmp_path: Path, format: str, select: str | dict[str, str]
) -> None:
    world = TableWorld(tmp_path, format)
    world.append(with_structures(rows(0)))
    asked = {"select": select} if isinstance(select, str) else {"select": "sum(x)", **select}
    catalog = world.catalog([{"id": "total", "stream": STREAM, **LENGTHS, **asked}])
    with pytest.raises(HeddleError) as error:
        world.evaluate(catalog)
    assert "only Spark evaluates that" in str(error.value)
    assert len(str(error.value).splitlines()) == 1
    assert not (tmp_path / "w").exists()


def test_a_field_of_a_structure_is_evaluated_by_spark(tmp_path: Path, spark: SparkSession) -> None:
    """It has the name of a plain column, which is another."""
    world = TableWorld(tmp_path, "delta")
    world.append(with_structures(rows(0)))
    queries = [{"id": f"total_{name}", "stream": STREAM, "select": f"sum({sql})", "where": f"{sql} IS NOT NULL",
                "group_by": ["k"], **LENGTHS} for name, sql in (("field", "s.x"), ("column", "x"))]  # fmt: skip
    catalog = world.catalog(queries)
    report = evaluate(spark, catalog, plan_stream(catalog, STREAM, 10.0), str(tmp_path / "w"))
    assert [report.queries[f"total_{name}"]["lane"] for name in ("field", "column")] == ["frame", "file"]
    field, column = ([list(row.values()) for row in answers] for answers in world.answers(catalog))
    assert len(column) > 0
    assert sorted(map(str, field)) == sorted(str([*row[:-1], -row[-1]]) for row in column)


def map_columns(path: str) -> None:
    """Give the columns of a table's first version, and their parts, the names without `col-` that files have."""
    log = Path(path) / "_delta_log" / "00000000000000000000.json"
    log.write_text("\n".join(json.dumps(_map_columns(json.loads(line))) for line in log.read_text().splitlines()))


def _map_columns(action: dict[str, Any]) -> dict[str, Any]:
    if "protocol" in action:
        return {"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}}
    if "metaData" not in action:
        return action
    schema = json.loads(action["metaData"]["schemaString"])
    _map_fields(schema["fields"], itertools.count(1))
    settings = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "9"}
    partitions = [name.removeprefix("col-") for name in action["metaData"]["partitionColumns"]]
    changed = {"schemaString": json.dumps(schema), "configuration": settings, "partitionColumns": partitions}
    return {"metaData": {**action["metaData"], **changed}}


def _map_fields(fields: list[dict[str, Any]], numbers: Iterator[int]) -> None:
    for field in fields:
        held = field["name"]
        field["name"] = held.removeprefix("col-")
        field["metadata"] = {"delta.columnMapping.id": next(numbers), "delta.columnMapping.physicalName": held}
        if isinstance(field["type"], dict) and field["type"]["type"] == "struct":
            _map_fields(field["type"]["fields"], numbers)


def _rename_parts(world: TableWorld) -> None:
    """Write rows whose structure has the parts b and x; files call them otherwise, and x as another was called."""
    if world.format == "delta":
        table = with_structures(rows(0))
        parts = pa.StructArray.from_arrays(table["s"].combine_chunks().flatten(), names=["col-x", "col-b"])
        columns = [f"col-{name}" for name in table.column_names]
        write_deltalake(world.path, table.set_column(0, "s", parts).rename_columns(columns))
        map_columns(world.path)
        return
    world.append(with_structures(rows(0)))
    with world.iceberg().update_schema() as update:
        update.rename_column("s.x", "b")
    with world.iceberg().update_schema() as update:
        update.rename_column("s.a", "x")


@pytest.mark.parametrize("format", FORMATS)
def test_parts_of_structures_are_known_by_the_table_s_names(tmp_path: Path, spark: SparkSession, format: str) -> None:
    world = TableWorld(tmp_path, format)
    _rename_parts(world)
    asked = {
        "plain": "sum(x)",
        "same": "sum(s.x)",
        "other": "sum(-s.b)",
        "there": "sum(x) FILTER (WHERE m IS NOT NULL AND l IS NOT NULL)",
    }
    queries = [
        {"id": id, "stream": STREAM, "select": select, "group_by": ["k"], **LENGTHS} for id, select in asked.items()
    ]
    catalog = world.catalog(queries)
    evaluate(spark, catalog, plan_stream(catalog, STREAM, 10.0), str(tmp_path / "w"))
    assert check(spark, catalog, STREAM, str(tmp_path / "w"), Choice(everything=True)).audit.passed
    plain, *others = ([list(row.values()) for row in answers] for answers in world.answers(catalog))
    assert len(plain) > 0
    assert others == [plain] * 3


def test_deletion_vectors_are_refused_in_one_line(tmp_path: Path) -> None:
    world = TableWorld(tmp_path, "delta")
    world.append(rows(0))
    catalog = world.catalog()
    world.evaluate(catalog)
    world.append(rows(1))
    log = Path(world.path) / "_delta_log" / "00000000000000000001.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for action in actions:
        if "add" in action:
            action["add"]["deletionVector"] = {
                "storageType": "i",
                "pathOrInlineDv": "x",
                "sizeInBytes": 1,
                "cardinality": 1,
            }
    log.write_text("\n".join(map(json.dumps, actions)))
    with pytest.raises(HeddleError, match=r"version 1 has deletion vectors: .*REORG TABLE"):
        world.evaluate(catalog)


@pytest.mark.parametrize("asked", [{"select": "sum(zzz)"}, {"where": "zzz > 1"}, {"group_by": ["zzz"]}])
@pytest.mark.parametrize("format", FORMATS)
def test_a_column_that_the_table_lacks_is_one_line(tmp_path: Path, format: str, asked: dict[str, Any]) -> None:
    world = TableWorld(tmp_path, format)
    world.append(rows(0))
    catalog = world.catalog([{"id": "total", "stream": STREAM, "select": "sum(X)", **LENGTHS, **asked}])
    with pytest.raises(HeddleError, match=r"the events have no column zzz; they have ts, k, x$"):
        evaluate_local(catalog, plan_stream(catalog, STREAM, 10.0), str(tmp_path / "w"))
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_not_there_is_one_line(tmp_path: Path, format: str) -> None:
    world = TableWorld(tmp_path, format)
    if format == "iceberg":
        world.iceberg().catalog.drop_table("db.events")
    catalog = world.catalog()
    with pytest.raises(HeddleError, match=r"no Delta table|has no such table"):
        world.evaluate(catalog)
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize("format", FORMATS)
def test_another_table_in_its_place_is_refused(tmp_path: Path, format: str) -> None:
    world = TableWorld(tmp_path, format)
    world.append(rows(0))
    catalog = world.catalog()
    world.evaluate(catalog)
    if format == "delta":
        DeltaTable(world.path)
        for file in (Path(world.path) / "_delta_log").iterdir():
            file.unlink()
    else:
        world.iceberg().catalog.drop_table("db.events")
    world.append(rows(1))
    with pytest.raises(HeddleError, match="is another table"):
        world.evaluate(catalog)


def test_a_file_that_was_removed_before_it_was_read(tmp_path: Path) -> None:
    world = TableWorld(tmp_path, "delta")
    world.append(rows(0))
    catalog = world.catalog()
    world.evaluate(catalog)
    world.append(rows(1))
    world.compact()
    DeltaTable(world.path).vacuum(0, dry_run=False, enforce_retention_duration=False)
    with pytest.raises(HeddleError, match="the table's log names it, and it is gone"):
        world.evaluate(catalog)
