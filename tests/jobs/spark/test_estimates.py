"""Estimates of distinct values: Spark's own, to the last digit, for every type and precision."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from jobs.engine.slices.tallies import hash_values
from jobs.kernels.tallies.merge import merge_entries
from jobs.kernels.tallies.registers import estimate_windows, precision_of, rank_hashes

SIZES = (1, 7, 90, 350, 900, 2500, 20_000)
NAN = float("nan")


def values_of(number: int, size: int) -> dict[str, Any]:
    """A value of every type; some repeat, and some are null."""
    n = number * 7919 % size - size // 3
    return {
        "i": n,
        "l": n * (1 << 40) + 5,
        "d": [0.0, -0.0, NAN][number % 3] if number % 50 == 0 else n / 7,
        "f": NAN if number % 50 == 0 else n / 8,
        "s": None if number % 9 == 0 else f"{n}é" * (n % 12),
        "b": bool(n % 2),
        "t": date(1970, 1, 1) + timedelta(days=n % 30_000 - 9_000),
        "p": Decimal(n) / 100,
        "q": Decimal(n) * 10**18 / 100_000,
        "y": str(n).encode() if n % 3 else b"",
    }


KINDS = {
    "i": pa.int32(),
    "l": pa.int64(),
    "d": pa.float64(),
    "f": pa.float32(),
    "s": pa.string(),
    "b": pa.bool_(),
    "t": pa.date32(),
    "p": pa.decimal128(12, 2),
    "q": pa.decimal128(30, 5),
    "y": pa.binary(),
}


@pytest.fixture(scope="module")
def columns() -> pa.Table:
    rows = [values_of(number, size) | {"g": size} for size in SIZES for number in range(size)]
    return pa.Table.from_pylist(rows, pa.schema([*KINDS.items(), ("g", pa.int64())]))


def test_for_every_type_and_precision(spark: SparkSession, columns: pa.Table) -> None:
    frame = spark.createDataFrame(columns)
    # Spark makes a column of every register: the finest precision of all types at once takes it most of a minute
    for deviation, names in ((0.3, list(KINDS)), (0.05, list(KINDS)), (0.01, ["s"])):
        statements = [f"approx_count_distinct({name}, {deviation}) AS {name}" for name in names]
        theirs = {row.g: row for row in frame.groupBy("g").agg(*map(_expression, statements)).collect()}
        for size in SIZES:
            rows = columns.filter(pa.compute.equal(columns["g"], size))
            ours = {name: estimate(rows[name].combine_chunks(), deviation) for name in names}
            assert ours == {name: theirs[size][name] for name in names}, (deviation, size)


def _expression(sql: str) -> Any:
    from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

    return F.expr(sql)


def estimate(column: pa.Array, deviation: float) -> int:
    """The estimate of a column, cut into slices of a hundred values that are merged again."""
    precision = precision_of(deviation)
    registers, ranks = rank_hashes(hash_values(column.drop_null()), precision)
    cells = len(registers) // 100 + 1
    tally = merge_entries(cells, np.arange(len(registers)) // 100, registers, ranks, largest=True)
    whole = estimate_windows(
        precision, tally.offsets, registers[tally.entry], tally.numbers, np.array([0]), np.array([cells])
    )
    return int(whole[0])
