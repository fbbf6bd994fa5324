"""Types of answers: for every aggregate and every type of its argument what Spark says, or a refusal."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from jobs.engine.program.spark_types import can_widen, parse_type, plain_type, result_type
from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.spark_types.parquet import spark_type
from optimizer.errors import HeddleError

TYPES: dict[str, pa.DataType] = {
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "decimal(10,2)": pa.decimal128(10, 2),
    "decimal(38,10)": pa.decimal128(38, 10),
    "binary": pa.binary(),
    "string": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "boolean": pa.bool_(),
}
NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")
SHARED = [name for name, aggregate in AGGREGATES.items() if aggregate.shared]
EVERYWHERE = {"count", "min", "max", "first", "last", "argmin", "argmax"}


def by_spark(frame: DataFrame, aggregate: str, kind: str) -> str | None:
    second = AGGREGATES[aggregate].default or ("0.5" if aggregate.startswith("percentile") else "bigint")
    sql = AGGREGATES[aggregate].spark.format(x=f"`{kind}`", y=second, ts="timestamp", arguments=f"`{kind}`, {second}")
    try:
        return frame.selectExpr(sql).schema[0].dataType.simpleString()
    except AnalysisException:
        return None


def ours(aggregate: str, kind: str) -> str | None:
    argument = TYPES[kind]
    if aggregate == "sum_squares" and kind.startswith("decimal"):
        argument = {10: pa.decimal128(21, 4), 38: pa.decimal128(38, 6)}[argument.precision]
    try:
        return spark_type(result_type(aggregate, [argument]))
    except HeddleError:
        return None


@pytest.fixture(scope="module")
def empty(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([], ", ".join(f"`{kind}` {kind}" for kind in TYPES))


@pytest.mark.parametrize("aggregate", SHARED)
def test_of_every_type(empty: DataFrame, aggregate: str) -> None:
    for kind in TYPES:
        found = ours(aggregate, kind)
        if found is not None:
            assert found == by_spark(empty, aggregate, kind), (aggregate, kind)
        elif not kind.startswith("decimal"):
            assert aggregate not in EVERYWHERE
            assert kind not in NUMBERS or aggregate.startswith(("bool", "bit")), (aggregate, kind)


def test_count_of_everything() -> None:
    assert result_type("count", []) == pa.int64()


def test_one_type_however_it_is_encoded() -> None:
    assert plain_type(pa.dictionary(pa.int32(), pa.large_string())) == pa.string()
    assert plain_type(pa.timestamp("ms", "Europe/Berlin")) == pa.timestamp("us", "UTC")
    assert plain_type(pa.timestamp("ns")) == pa.timestamp("us")


@pytest.mark.parametrize("kind", [kind for name, kind in TYPES.items() if not name.startswith("decimal")], ids=str)
def test_types_by_name(kind: pa.DataType) -> None:
    assert parse_type(str(kind)) == kind


def test_widening() -> None:
    assert can_widen(pa.int8(), pa.int64())
    assert can_widen(pa.float32(), pa.float64())
    assert not can_widen(pa.int64(), pa.int32())
    assert not can_widen(pa.int32(), pa.float64())
    assert not can_widen(pa.string(), pa.date32())
