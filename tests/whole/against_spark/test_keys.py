"""Keys of every plain type: grouped as Spark groups them, through batches, buckets and both lanes."""

from __future__ import annotations

import math
import random
import struct
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from jobs.results import read_results, results_table
from tests.jobs.engine.runs import run_in_process, run_on_spark
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import STREAM, make_world, query

OTHER_NAN = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_0000_0123))[0]
FLOATS = [None, math.nan, OTHER_NAN, 0.0, -0.0, 0.1, math.inf, -math.inf, 5e-324]
KEYS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "double": (pa.float64(), FLOATS),
    "single": (pa.float32(), FLOATS),
    "money": (pa.decimal128(9, 2), [None, Decimal("0.00"), Decimal("-7.50"), Decimal("9999999.99")]),
    "large": (pa.decimal128(38, 0), [None, Decimal(10**37), Decimal(-(10**37)), Decimal(3)]),
    "instant": (pa.timestamp("us", "UTC"), [None, 0, -1, 1_700_000_000_000_001]),
    "clock": (pa.timestamp("us"), [None, 0, -1, 1_700_000_000_000_001]),
    "day": (pa.date32(), [None, date(1969, 12, 30), date(2024, 2, 29)]),
    "truth": (pa.bool_(), [None, True, False]),
    "bytes": (pa.binary(), [None, b"", b"\xff\x00", b"a"]),
    "fixed": (pa.binary(2), [None, b"\xff\x00", b"ab"]),
}


def some_events(seed: int, first: int) -> pa.Table:
    pick = random.Random(seed)
    count = 300
    columns = {
        name: pa.array([pick.choice(values) for _ in range(count)], kind) for name, (kind, values) in KEYS.items()
    }
    times = pa.array([first + pick.randrange(20 * SECOND) for _ in range(count)])
    return pa.table({"ts": times.cast(pa.timestamp("us", "UTC")), **columns, "n": list(range(count))})


def bits(value: Any) -> Any:
    """A value with all its bits: NaN is not equal to itself, and -0.0 is to 0.0."""
    return struct.pack("<d", value) if isinstance(value, float) else value


def rows(table: pa.Table) -> list[str]:
    return sorted(repr([bits(value) for value in row.values()]) for row in table.to_pylist())


def test_keys_of_every_type(spark: SparkSession, tmp_path: Path) -> None:
    batches = [some_events(seed, seed * 20 * SECOND) for seed in range(3)]
    entries = [query(f"by_{name}", "sum(n)", 10 * SECOND, 5 * SECOND, group_by=[name]) for name in KEYS]
    entries.append(query("by_some", "count(*)", 40 * SECOND, 20 * SECOND, group_by=["single", "money", "double"]))
    world = make_world(tmp_path, batches, entries, 0)
    plan = world.plan("shared")
    _, manifest, report = run_on_spark(spark, world, plan, "file", buckets=3)
    run_in_process(world, plan, buckets=3)
    assert report.lane == "file"
    assert manifest.batch == 2
    spark.read.parquet(str(tmp_path / "data")).createOrReplaceTempView(STREAM)
    latest = f"(SELECT max(ts) FROM {STREAM})"
    for statement in world.catalog.statements:
        theirs = spark.sql(f"SELECT * FROM ({world.catalog.statements[statement].sql}) WHERE window.end <= {latest}")
        expected = rows(theirs.toArrow())
        assert len(expected) > 30
        ours = read_results(spark, str(tmp_path / "warehouse_file"), world.catalog, statement)
        assert [(f.name, f.dataType) for f in ours.schema] == [(f.name, f.dataType) for f in theirs.schema]
        assert rows(ours.toArrow()) == expected, statement
        assert rows(results_table(str(tmp_path / "local"), world.catalog, statement)) == expected, statement
