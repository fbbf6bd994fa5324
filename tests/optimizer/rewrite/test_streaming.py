"""Chained Structured Streaming queries give the rows of the user's own statements in append mode, run after run."""

from __future__ import annotations

import runpy
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError
from optimizer.planning.stream import plan_stream
from optimizer.rewrite import StreamingScript, answer_types, rewrite_streaming
from tests.optimizer.rewrite.answers import assert_same_rows, rows_by_place
from tests.optimizer.rewrite.catalogs import catalog_of, events

BY_KEY = {"stream": "odd", "group_by": "k"}
QUERIES = [
    {"id": "mean", "select": ["avg(x)", "count(*)", "var_samp(n)"], "range": "6 s", "slide": "2 s", **BY_KEY},
    {"id": "top", "select": ["max(n)", "last(s)"], "where": "b", "range": "13 s", "slide": "4 s", **BY_KEY},
]
TABLES_ONLY = [
    {"id": "rows", "stream": "odd", "select": "sum(n)", "range": "20 rows", "slide": "10 rows"},
    {"id": "distinct", "stream": "odd", "select": "count(DISTINCT n)", "range": "5 s", "slide": "5 s"},
]


def rewrite_shared(catalog: Catalog) -> StreamingScript:
    plan = plan_stream(catalog, "odd", 10_000.0, "factor_windows", "auto")
    return rewrite_streaming(catalog, plan, answer_types(catalog, "odd"))


def arrive(table: pa.Table, folder: Path, name: str) -> None:
    """Write events, the last of which passes every predicate: only such events move the watermark of Spark's own."""
    place = int(pc.index(table["ts"], pc.max(table["ts"])).as_py())
    passes = pa.array([True if row == place else value for row, value in enumerate(table["b"].to_pylist())])
    pq.write_table(table.set_column(table.column_names.index("b"), "b", passes), folder / name)


def test_the_same_rows_as_spark_in_append_mode(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs; the second brings events that are late for short windows, but not for long ones."""
    monkeypatch.setattr(sys, "argv", ["program.py", str(tmp_path / "out")])
    data = tmp_path / "data"
    data.mkdir()
    table = events(500, 3).sort_by("ts")
    late = table.slice(200, 20)
    arrive(pa.concat_tables([table.slice(0, 200), table.slice(220, 80)]), data, "one.parquet")
    catalog = catalog_of(tmp_path, QUERIES)
    script = rewrite_shared(catalog)
    assert not script.as_written
    assert not script.left_out
    program = tmp_path / "program.py"
    program.write_text(script.text)
    for run in range(2):
        runpy.run_path(str(program))
        for name in script.answers:
            append_as_written(spark, catalog, name, tmp_path / "own")
        if not run:
            arrive(pa.concat_tables([late, table.slice(300)]), data, "two.parquet")
    rows = 0
    for name in script.answers:
        keys = {column.name for column in catalog.statements[name].columns if column.kind != "answer"}
        answers, expected = (
            rows_by_place(spark.read.parquet(str(folder / name)), keys)
            for folder in (tmp_path / "out/answers", tmp_path / "own")
        )
        assert_same_rows(answers, expected, name)
        rows += len(expected)
    assert rows > 50


def append_as_written(spark: SparkSession, catalog: Catalog, name: str, folder: Path) -> None:
    """Run the user's own statement as a stream on what has arrived."""
    source = catalog.streams["odd"]
    stream = spark.readStream.schema(spark.read.parquet(source.path).schema).parquet(source.path)
    stream.withWatermark(source.time, f"{source.lateness} microseconds").createOrReplaceTempView("odd")
    writer = spark.sql(catalog.statements[name].sql).writeStream.trigger(availableNow=True)
    writer.option("checkpointLocation", str(folder / f"{name}.checkpoint")).start(str(folder / name)).awaitTermination()


def test_what_only_a_table_answers_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    pq.write_table(events(50, 3), tmp_path / "data" / "one.parquet")
    script = rewrite_shared(catalog_of(tmp_path, [*QUERIES, *TABLES_ONLY]))
    assert script.left_out == ("rows", "distinct")
    assert list(script.answers) == ["mean", "top"]
    compile(script.text, "program.py", "exec")


def test_a_table_with_a_log_is_refused(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path, QUERIES[:1])
    delta = replace(catalog, streams={"odd": replace(catalog.streams["odd"], format="delta")})
    with pytest.raises(HeddleError, match="stream odd: --streaming takes a stream of files"):
        rewrite_streaming(delta, plan_stream(catalog, "odd", 10_000.0, "shared", "auto"), {})
