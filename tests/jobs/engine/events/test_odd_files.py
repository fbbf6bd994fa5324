"""Files that are not all alike: a right answer, or one clear line."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from jobs.engine.events import parquet
from jobs.results import read_results, results_table
from optimizer.catalog.spark_types.parquet import read_schema
from optimizer.errors import HeddleError
from tests.fuzz.odd_files import write_dictionaries
from tests.jobs.engine.runs import answers_in, run_in_process, run_on_spark
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import STREAM, add_batch, make_world, query

TIMES = [0, SECOND, 3 * SECOND]
LATER = [time + 10 * SECOND for time in TIMES]
STAMP = pa.timestamp("us", "UTC")
SUM = query("total", "sum(v)", 2 * SECOND, group_by=["k"])


def events(times: list[int], stamp: pa.DataType = STAMP, **columns: Any) -> pa.Table:
    return pa.table({"ts": pa.array(times, pa.int64()).cast(pa.timestamp("us")).cast(stamp), **columns})


def answers(folder: Path, batches: list[pa.Table], *queries: Any) -> dict[str, Any]:
    world = make_world(folder, batches, queries, 0)
    plan = world.plan("shared")
    storage, manifests = run_in_process(world, plan)
    return answers_in(world, storage, manifests[-1], plan)


KEYS = pa.array(["a", "a", None])
EXPECTED = {(("a",), 0): 3, ((None,), 2 * SECOND): 4, (("a",), 10 * SECOND): 7}


@pytest.mark.parametrize("first", [pa.int8(), pa.int32(), pa.int64()])
@pytest.mark.parametrize("second", [pa.int8(), pa.int32(), pa.int64()])
def test_integers_of_another_width(tmp_path: Path, first: pa.DataType, second: pa.DataType) -> None:
    batches = [
        events(TIMES, k=KEYS, v=pa.array([1, 2, 4], first)),
        events(LATER, k=KEYS, v=pa.array([7, None, 0], second)),
    ]
    if second.bit_width <= first.bit_width:
        assert answers(tmp_path, batches, SUM)["total"] == EXPECTED
    else:
        with pytest.raises(HeddleError, match=rf"part-00001.parquet: column v is int\d+; write it as {first}"):
            answers(tmp_path, batches, SUM)


def test_columns_more_and_less(tmp_path: Path) -> None:
    first = events(TIMES, k=KEYS, v=[1, 2, 4])
    more = events(LATER, extra=["x"] * 3, v=[7, None, 0], k=KEYS)
    assert answers(tmp_path / "more", [first, more], SUM)["total"] == EXPECTED
    with pytest.raises(HeddleError, match=r"part-00001.parquet: has no column v; it has ts, k"):
        answers(tmp_path / "less", [first, more.select(["ts", "k"])], SUM)
    with pytest.raises(HeddleError, match=r"part-00001.parquet: column k is int64; write it as string"):
        answers(tmp_path / "other", [first, events(LATER, k=[1, 2, 3], v=[1, 2, 3])], SUM)


@pytest.mark.parametrize(
    ("stamp", "text"),
    [
        (pa.timestamp("ms", "UTC"), pa.string()),
        (pa.timestamp("us"), pa.large_string()),
        (pa.timestamp("us", "Europe/Berlin"), pa.dictionary(pa.int32(), pa.string())),
    ],
    ids=str,
)
def test_however_columns_are_encoded(tmp_path: Path, stamp: pa.DataType, text: pa.DataType) -> None:
    keys = KEYS.cast(text) if not pa.types.is_dictionary(text) else KEYS.dictionary_encode()
    queries = [SUM, query("newest", "max(ts)", 2 * SECOND), query("name", "max(k)", 2 * SECOND, group_by=["k"])]
    batches = [events(TIMES, stamp, k=keys, v=[1, 2, 4]), events(LATER, stamp, k=keys, v=[7, None, 0])]
    found = answers(tmp_path, batches, *queries)
    assert found["total"] == EXPECTED
    assert found["newest"] == {((), 0): SECOND, ((), 2 * SECOND): 3 * SECOND, ((), 10 * SECOND): 11 * SECOND}
    assert found["name"] == {place: place[0][0] for place in EXPECTED}


def test_times_in_another_unit_later(tmp_path: Path) -> None:
    batches = [events(TIMES, k=KEYS, v=[1, 2, 4]), events(LATER, pa.timestamp("ms", "UTC"), k=KEYS, v=[7, None, 0])]
    found = answers(tmp_path, batches, SUM, query("newest", "max(ts)", 2 * SECOND))
    assert found["total"] == EXPECTED
    assert found["newest"][(), 10 * SECOND] == 11 * SECOND


def test_no_rows_and_no_row_groups(tmp_path: Path) -> None:
    first, later = events(TIMES, k=KEYS, v=[1, 2, 4]), events(LATER, k=KEYS, v=[7, None, 0])
    world = make_world(tmp_path, [first.slice(0, 0), first, first.slice(0, 0), later], [SUM], 0)
    add_batch(tmp_path, 4, later.slice(0, 0))
    with pq.ParquetWriter(tmp_path / "data" / "part-00005.parquet", later.schema):
        pass
    plan = world.plan("shared")
    storage, manifests = run_in_process(world, plan)
    assert answers_in(world, storage, manifests[-1], plan)["total"] == EXPECTED


def test_names_that_look_like_our_own(tmp_path: Path) -> None:
    columns = {"v0": KEYS, "p0": pa.array([1, 2, 4]), "start": pa.array([5, 6, 7]), "query": pa.array([1, 1, 1])}
    asked = query("total", "sum(p0)", 2 * SECOND, group_by=["v0", "start", "query"], where="p0 < 4")
    found = answers(tmp_path, [events(TIMES, **columns), events(LATER, **columns)], asked)
    assert found["total"] == {
        (("a", 5, 1), 0): 1,
        (("a", 6, 1), 0): 2,
        (("a", 5, 1), 10 * SECOND): 1,
        (("a", 6, 1), 10 * SECOND): 2,
    }


def test_the_frame_lane_reads_every_file_by_the_first_ones_types(spark: SparkSession, tmp_path: Path) -> None:
    batches = [
        events(TIMES, k=KEYS, v=pa.array([1, 2, 4], pa.int64())),
        events(LATER, k=KEYS, v=pa.array([7, None, 0], pa.int32())),
    ]
    world = make_world(tmp_path, batches, [SUM, query("late", "max(V)", 2 * SECOND, group_by=["K"])], 0)
    plan = world.plan("shared")
    storage, manifest, report = run_on_spark(spark, world, plan, "auto")
    assert report.lane == "file and frame"  # only Spark knows that V is v
    found = answers_in(world, storage, manifest, plan)
    assert found["total"] == EXPECTED
    assert found["late"] == {(("a",), 0): 2, ((None,), 2 * SECOND): 4, (("a",), 10 * SECOND): 7}


def int96(times: list[int], **columns: Any) -> pa.Table:
    """Events whose time has no zone; written as INT96 below."""
    return events(times, pa.timestamp("us"), **columns)


def test_int96_is_an_instant(tmp_path: Path, spark: SparkSession) -> None:
    queries = [SUM, query("newest", "max(ts)", 2 * SECOND), query("by_time", "count(*)", 2 * SECOND, group_by=["t"])]
    world = make_world(tmp_path, [], queries, 0)
    table = int96([*TIMES, 9 * SECOND], k=["a", "a", None, "b"], v=[1, 2, 4, 8])
    table = table.append_column("t", table["ts"])
    pq.write_table(table, world.path(0), use_deprecated_int96_timestamps=True)
    assert read_schema(world.catalog.streams[STREAM])["ts"] == "timestamp"
    plan = world.plan("shared")
    storage, manifests = run_in_process(world, plan)
    assert answers_in(world, storage, manifests[-1], plan)["newest"] == {((), 0): SECOND, ((), 2 * SECOND): 3 * SECOND}
    warehouse = str(world.folder / "local")
    spark.read.parquet(str(world.path(0))).createOrReplaceTempView(STREAM)
    for id in ("total", "newest", "by_time"):
        theirs = spark.sql(world.catalog.statements[id].sql).where("window.end <= timestamp '1970-01-01 00:00:09'")
        ours = read_results(spark, warehouse, world.catalog, id)
        assert ours.dtypes == theirs.dtypes
        assert sorted(map(str, ours.collect())) == sorted(map(str, theirs.collect()))


def test_columns_that_differ_in_case_alone_are_refused(tmp_path: Path, spark: SparkSession) -> None:
    table = events(TIMES, k=KEYS, v=[1, 2, 4], V=[1, 2, 4])
    with pytest.raises(HeddleError, match=r"part-00000.parquet: the columns v and V are one to Spark; rename one"):
        answers(tmp_path / "first", [table], SUM)
    with pytest.raises(HeddleError, match=r"part-00001.parquet: the columns v and V are one to Spark"):
        answers(tmp_path / "second", [table.drop(["V"]), table], SUM)
    world = make_world(tmp_path / "spark", [table], [SUM], 0)
    for lane in ("file", "frame"):
        with pytest.raises(HeddleError) as refusal:
            run_on_spark(spark, world, world.plan("shared"), lane)
        assert "\n" not in str(refusal.value)


ODD_KEYS = {
    "binary": pa.array([b"a\xff", b"a\xff", None, b"", b"a\xfe"], pa.binary()),
    "not UTF-8": pa.array([b"a\xff", b"a\xff", None, b"", b"a\xfe"], pa.binary()).view(pa.string()),
    "decimal": pa.array([Decimal(1), Decimal(1), None, Decimal(0), Decimal(2)], pa.decimal128(20, 2)),
    "float": pa.array([0.0, -0.0, None, float("nan"), 1.5]),
}


@pytest.mark.parametrize("keys", ODD_KEYS.values(), ids=ODD_KEYS.keys())
def test_odd_keys_group_as_in_spark(tmp_path: Path, spark: SparkSession, keys: pa.Array) -> None:
    table = events([*TIMES, 3 * SECOND, 9 * SECOND], k=keys, v=[1, 2, 4, 8, 16])
    world = make_world(
        tmp_path, [table], [SUM, query("middle", "percentile(v, 0.5, 2)", 2 * SECOND, group_by=["k"])], 0
    )
    spark.read.parquet(str(world.path(0))).createOrReplaceTempView(STREAM)
    for lane in ("auto", "frame"):
        run_on_spark(spark, world, world.plan("shared"), lane, buckets=3)
        for id in ("total", "middle"):
            theirs = spark.sql(world.catalog.statements[id].sql).where("window.end <= timestamp '1970-01-01 00:00:09'")
            ours = read_results(spark, str(world.folder / f"warehouse_{lane}"), world.catalog, id)
            assert ours.dtypes == theirs.dtypes
            assert in_hex(ours) == in_hex(theirs)
            assert results_table(str(world.folder / f"warehouse_{lane}"), world.catalog, id).num_rows == theirs.count()


def in_hex(rows: DataFrame) -> list[str]:
    """Rows as texts; keys as bytes, which need not be UTF-8."""
    others = [f"`{name}`" for name in rows.columns if name != "k"]
    return sorted(map(str, rows.selectExpr("hex(cast(cast(k AS string) AS binary)) AS k", *others).collect()))


@pytest.mark.parametrize("aggregate", ["sum(v)", "collect_set(v)"])
def test_nested_keys_are_refused(tmp_path: Path, spark: SparkSession, aggregate: str) -> None:
    table = events(TIMES, k=pa.array([{"a": 1}, {"a": 2}, None]), v=[1, 2, 4])
    world = make_world(tmp_path, [table], [query("q", aggregate, 2 * SECOND, group_by=["k"])], 0)
    for lane in ("auto", "frame"):
        with pytest.raises(HeddleError, match="group_by: the column k is a struct"):
            run_on_spark(spark, world, world.plan("shared"), lane)


@pytest.mark.parametrize("store_schema", [False, True])
def test_a_dictionary_that_has_a_value_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_schema: bool
) -> None:
    """The format allows it; Arrow, which reads texts by their dictionaries, takes the entries for others."""
    monkeypatch.setattr(parquet, "MANY", 0)
    rows = 60
    keys = pa.chunked_array([pa.array([None if row % 7 == 0 else "abc"[row % 3] for row in range(rows)])])
    table = events([SECOND] * (rows - 1) + [9 * SECOND], k=keys, v=pa.array([1] * rows))
    world = make_world(tmp_path, [table], [SUM], 0)
    write_dictionaries(world.path(0), table.schema, [table.slice(0, 25), table.slice(25)], 1, True, store_schema)
    if not store_schema:
        assert pq.read_table(world.path(0), columns=["k"])["k"].to_pylist() == keys.to_pylist()
    plan = world.plan("shared")
    storage, manifests = run_in_process(world, plan)
    counts = {((key,), 0): keys.to_pylist()[:-1].count(key) for key in ("a", "b", "c", None)}
    assert answers_in(world, storage, manifests[-1], plan)["total"] == counts
