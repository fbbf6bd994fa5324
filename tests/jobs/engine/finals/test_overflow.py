"""Numbers that do not fit: refused in one line where Spark refuses them, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from optimizer.algebra.techniques import CARDS, allowed
from optimizer.errors import HeddleError
from tests.jobs.engine.events.test_odd_files import STAMP
from tests.jobs.engine.runs import answers_in, run_in_process, run_on_spark
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import STREAM, World, make_world, query

LARGEST = (1 << 63) - 1


def world_of(folder: Path, columns: dict[str, pa.Array], *queries: Any) -> World:
    """One event a second; the last one, much later, lets all windows end."""
    count = len(next(iter(columns.values())))
    times = [n * SECOND for n in range(count - 1)] + [1000 * SECOND]
    return make_world(folder, [pa.table({"ts": pa.array(times, STAMP), **columns})], queries, 0)


def run(world: World, technique: str = "auto") -> dict[str, Any]:
    plan = world.plan("shared", technique)
    storage, manifests = run_in_process(world, plan)
    return answers_in(world, storage, manifests[-1], plan)


def whole(*values: int | None, kind: pa.DataType | None = None) -> dict[str, pa.Array]:
    return {"n": pa.array([*values, 0], kind or pa.int64())}


@pytest.mark.parametrize("technique", [name for name in CARDS if allowed(name, "sum")])
@pytest.mark.parametrize("sign", [1, -1])
def test_sums_up_to_the_last_bit(tmp_path: Path, technique: str, sign: int) -> None:
    half = sign * (1 << 62)
    asked = query("total", "sum(n)", 2 * SECOND, SECOND)
    fits = run(world_of(tmp_path / "fits", whole(half, half - sign, half, 0, -half), asked), technique)["total"]
    assert fits[(), 0] == 2 * half - sign
    assert [fits[(), n * SECOND] for n in (1, 3)] == [2 * half - sign, -half]
    with pytest.raises(HeddleError, match=r"^query total: the sum of a window does not fit into int64[^\n]*$"):
        run(world_of(tmp_path / "beyond", whole(half, half - (sign < 0)), asked), technique)


@pytest.mark.parametrize(
    ("values", "kind"), [((LARGEST, -1), pa.int64()), ((2**31 - 1, -1), pa.int32()), ((100, -100), pa.int8())]
)
def test_ranges(spark: SparkSession, tmp_path: Path, values: tuple[int, int], kind: pa.DataType) -> None:
    asked = query("width", "range(n)", 2 * SECOND)
    world = world_of(tmp_path, whole(*values, kind=kind), asked)
    with pytest.raises(HeddleError, match=rf"^query width: the range of a window does not fit into {kind}[^\n]*$"):
        run(world)
    spark.read.parquet(str(tmp_path / "data")).createOrReplaceTempView(STREAM)
    with pytest.raises(Exception, match="ARITHMETIC_OVERFLOW"):
        spark.sql(world.catalog.statements["width"].sql).collect()


def test_a_range_that_just_fits(tmp_path: Path) -> None:
    assert run(world_of(tmp_path, whole(LARGEST, 0), query("width", "range(n)", 2 * SECOND)))["width"][(), 0] == LARGEST


def test_values_that_no_query_looks_at(tmp_path: Path) -> None:
    asked = query("small", "sum(n * n)", 2 * SECOND, where="n < 100")
    assert run(world_of(tmp_path / "guarded", whole(LARGEST, 5), asked))["small"] == {((), 0): 25}
    with pytest.raises(HeddleError, match=r"^n \* n: overflow, and Spark would refuse it too[^\n]*$"):
        run(world_of(tmp_path / "bare", whole(LARGEST, 5), asked, query("all", "max(n * n)", SECOND)))


@pytest.mark.parametrize("lane", ["file", "frame"])
def test_on_spark(spark: SparkSession, tmp_path: Path, lane: str) -> None:
    world = world_of(tmp_path, whole(LARGEST, 1), query("total", "sum(n)", 2 * SECOND))
    with pytest.raises(HeddleError, match=r"^query total: the sum of a window does not fit into int64[^\n]*$"):
        run_on_spark(spark, world, world.plan(), lane)


@pytest.mark.parametrize(("lane", "refusal"), [("file", "division by zero"), ("frame", "DIVIDE_BY_ZERO")])
def test_only_what_passes_is_divided(spark: SparkSession, tmp_path: Path, lane: str, refusal: str) -> None:
    columns = {"n": pa.array([6, 6, 6, 0]), "m": pa.array([0, 2, 0, 1])}
    guarded = query("ratio", "sum(n / m)", 2 * SECOND, where="m <> 0")
    world = world_of(tmp_path / "guarded", columns, guarded)
    storage, manifest, report = run_on_spark(spark, world, plan := world.plan(), lane)
    assert report.lane == lane
    assert answers_in(world, storage, manifest, plan)["ratio"] == {((), 0): 3.0}
    bare = world_of(tmp_path / "bare", columns, query("ratio", "sum(n / m)", 2 * SECOND))
    with pytest.raises(HeddleError, match=rf"^[^\n]*{refusal}[^\n]*$"):
        run_on_spark(spark, bare, bare.plan(), lane)
