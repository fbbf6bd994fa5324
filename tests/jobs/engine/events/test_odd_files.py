"""Files that are not all alike: a right answer, or one clear line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from optimizer.errors import HeddleError
from tests.jobs.engine.runs import answers_in, run_in_process, run_on_spark
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import add_batch, make_world, query

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
    assert report.lane == "frame"  # only Spark knows that V is v
    found = answers_in(world, storage, manifest, plan)
    assert found["total"] == EXPECTED
    assert found["late"] == {(("a",), 0): 2, ((None,), 2 * SECOND): 4, (("a",), 10 * SECOND): 7}
