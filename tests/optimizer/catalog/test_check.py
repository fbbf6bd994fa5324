"""heddle catalog: a catalog against its events, and what a person sees."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from heddle.main import app
from optimizer.catalog.read.load import check_catalog
from optimizer.catalog.spark_types.parquet import Unread, read_schema, spark_type
from optimizer.errors import CatalogError
from tests.optimizer.catalog.catalogs import write

STREAMS = "streams: {vibration: {source: {path: data/vibration}, time: ts}}\n"
QUERIES = """queries:
  - {id: fine, stream: vibration, select: max(x), where: good, group_by: [machine], range: 1 minute}
  - {id: column, stream: vibration, select: max(xx), range: 1 minute}
  - {id: words, stream: vibration, select: sum(machine), range: 1 minute}
  - {id: truth, stream: vibration, select: bool_and(x), range: 1 minute}
  - {id: bits, stream: vibration, select: bit_and(x), range: 1 minute}
  - {id: predicate, stream: vibration, select: max(x), where: x + 1, range: 1 minute}
  - {id: key, stream: vibration, select: max(x), group_by: [machin], range: 1 minute}
  - {id: adding, stream: vibration, select: sum(x + machine), range: 1 minute}
"""
FINE = "\n".join(QUERIES.splitlines()[:2])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    events = pa.table(
        {
            "ts": pa.array([datetime(2020, 1, 1)], pa.timestamp("us", "UTC")),
            "x": [1.5],
            "machine": ["m1"],
            "good": [True],
        }
    )
    (tmp_path / "data" / "vibration").mkdir(parents=True)
    pq.write_table(events, tmp_path / "data" / "vibration" / "part-0.parquet")
    return write(tmp_path, {"streams.yaml": STREAMS, "queries.yaml": FINE})


def test_columns_and_types_are_checked(folder: Path) -> None:
    (folder / "queries.yaml").write_text(QUERIES)
    with pytest.raises(CatalogError) as refused:
        check_catalog(folder)
    found = {problem.query: problem for problem in refused.value.problems}
    assert {name: problem.field for name, problem in found.items()} == {
        **dict.fromkeys(("column", "words", "truth", "bits", "adding"), "select"),
        "predicate": "where",
        "key": "group_by",
    }
    assert found["column"].right == "did you mean x?"
    assert found["key"].right == "did you mean machine?"
    assert found["words"].line == 4


def test_a_time_column_is_a_timestamp(folder: Path) -> None:
    (folder / "streams.yaml").write_text(STREAMS.replace("time: ts", "time: x"))
    with pytest.raises(CatalogError, match="the time column 'x' is double"):
        check_catalog(folder)


def test_events_that_are_not_there_yet_are_no_mistake(tmp_path: Path) -> None:
    folder = write(tmp_path, {"streams.yaml": STREAMS, "queries.yaml": QUERIES})
    report = check_catalog(folder)
    assert "no Parquet files" in report.unread["vibration"]
    with pytest.raises(Unread):
        read_schema(report.catalog.streams["vibration"])


@pytest.mark.parametrize(
    ("arrow", "spark"),
    [
        (pa.uint32(), "bigint"),
        (pa.decimal128(12, 3), "decimal(12,3)"),
        (pa.dictionary(pa.int32(), pa.string()), "string"),
        (pa.timestamp("us"), "timestamp_ntz"),
        (pa.timestamp("ns"), "unknown"),
        (pa.list_(pa.int64()), "unknown"),
    ],
)
def test_arrow_types_as_spark_reads_them(arrow: pa.DataType, spark: str) -> None:
    assert spark_type(arrow) == spark


def test_check_and_show_say_what_to_do_next(folder: Path) -> None:
    checked = CliRunner().invoke(app, ["catalog", "check", str(folder)])
    assert checked.exit_code == 0
    assert "no mistakes" in checked.output
    assert "Next: heddle catalog show" in checked.output
    shown = CliRunner().invoke(app, ["catalog", "show", str(folder)])
    assert shown.exit_code == 0
    assert "fine" in shown.output
    assert "max(x)" in shown.output
    assert "heddle plan" in shown.output


def test_square_brackets_are_not_colours(folder: Path) -> None:
    (folder / "queries.yaml").write_text(FINE.replace("where: good", "where: \"machine = '[red]'\""))
    assert "[red]" in CliRunner().invoke(app, ["catalog", "show", str(folder)]).output
