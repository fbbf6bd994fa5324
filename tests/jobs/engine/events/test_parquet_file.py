"""One Parquet file: what Spark sees of its columns, and one line where it cannot be read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.engine.events.parquet_file import (
    event_schema,
    folder_constants,
    open_parquet,
    read_whole,
    table_constants,
    with_constants,
)
from jobs.engine.program.program import Program
from jobs.engine.program.spark_types import INSTANT
from jobs.engine.sources.contract import write_values
from optimizer.errors import HeddleError
from tests.worlds.streams import odd_row
from tests.worlds.warehouse import make_world, query


def write(path: Path, **columns: pa.Array) -> str:
    pq.write_table(pa.table(columns), path, use_deprecated_int96_timestamps="old" in columns)
    return str(path)


def test_times_of_int96_are_instants(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", old=pa.array([1], pa.timestamp("us")), n=pa.array([1]))
    schema = event_schema(path, open_parquet(path))
    assert (schema.field("old").type, schema.field("n").type) == (INSTANT, pa.int64())


def test_columns_that_are_one_to_spark_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", n=pa.array([1]), N=pa.array([2]))
    with pytest.raises(HeddleError, match="the columns n and N are one to Spark; rename one of them"):
        event_schema(path, open_parquet(path))


def test_a_file_is_read_at_once_or_column_by_column_with_equal_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", n=pa.array([3, None]))
    assert open_parquet(path, content=read_whole(path)).read().equals(open_parquet(path).read())


def test_a_file_that_is_no_parquet_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("hello")
    with pytest.raises(
        HeddleError, match=r"a\.parquet: cannot be read as Parquet .*; mend or remove the file"
    ) as error:
        open_parquet(str(tmp_path / "a.parquet"))
    assert "\n" not in str(error.value)


def program_over(folder: Path) -> Program:
    """A program over files whose folders, or table, have the column n."""
    world = make_world(folder, [[odd_row(0, 0)]], [query("q", "sum(n)", 10, where="n > 1")], 0)
    return replace(world.program(world.plan()), root=str(folder / "data"), columns={"n": pa.int32()})


def test_constants_of_folders_and_tables(tmp_path: Path) -> None:
    program = program_over(tmp_path)
    file = f"{program.root}/n=7/k=x/a.parquet"
    constants = folder_constants(file, program, ["n"])
    assert constants == {"n": pa.scalar(7, pa.int32())}
    assert folder_constants(file, program, ["x"]) == {}, "nobody reads n"
    assert with_constants(pa.table({"x": [1.0, 2.0]}), constants)["n"].to_pylist() == [7, 7]
    with pytest.raises(HeddleError, match="its folder says n=seven, which is no int32"):
        folder_constants(f"{program.root}/n=seven/a.parquet", program, ["n"])

    assert table_constants(file, write_values({"n": "8"}), program, ["n"]) == {"n": pa.scalar(8, pa.int32())}
    with pytest.raises(HeddleError, match="its table says n = eight, which is no int32"):
        table_constants(file, write_values({"n": "eight"}), program, ["n"])
