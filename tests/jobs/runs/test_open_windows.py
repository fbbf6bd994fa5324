"""Windows that have not ended: their value so far is that of all events so far, batch after batch."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from heddle.main import app
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.results import read_open_windows, results_table
from jobs.runs.frames import run_table
from jobs.runs.in_process import evaluate_local
from jobs.runs.request import Options
from optimizer.errors import HeddleError
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import STREAM, make_world, query

ENTRIES = [
    query("peak", "max(x)", 60 * SECOND, 10 * SECOND, group_by=["k"]),
    query("many", ["sum(x)", "count(*)"], 300 * SECOND, 20 * SECOND, where="x > 2"),
    query("short", "count(x)", 5 * SECOND, 5 * SECOND, group_by=["k"]) | {"having": "value > 1"},
]


def batch(number: int) -> pa.Table:
    """Forty seconds of events, some of them out of order."""
    seconds = [number * 40 + place * 7 % 45 for place in range(80)]
    times = pa.array([second * SECOND for second in seconds]).cast(pa.timestamp("us", "UTC"))
    return pa.table(
        {"ts": times, "k": [f"k{place % 3}" for place in range(80)], "x": [place % 11 for place in range(80)]}
    )


def rows(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


@pytest.mark.parametrize("batches", [1, 4])
def test_open_windows_hold_what_has_come_so_far(tmp_path: Path, batches: int) -> None:
    world = make_world(tmp_path, [batch(number) for number in range(batches)], ENTRIES, 10 * SECOND)
    evaluate_local(world.catalog, world.plan("cascade"), str(tmp_path / "local"), Options(files_per_batch=1, buckets=2))
    storage = stream_storage(str(tmp_path / "local"), STREAM)
    watermark = pa.scalar(newest(storage).watermark, pa.int64()).cast(pa.timestamp("us", "UTC"))
    whole = run_table(world.catalog, pa.concat_tables([pq.read_table(file) for file in world.files]))
    for id in world.catalog.statements:
        ended = [row["window"]["end"] <= watermark.as_py() for row in whole[id].to_pylist()]
        expected = whole[id].filter(pa.array([not out for out in ended]))
        assert expected.num_rows
        assert rows(read_open_windows(str(tmp_path / "local"), world.catalog, id)) == rows(expected)
        both = results_table(str(tmp_path / "local"), world.catalog, id, open=True)
        assert sorted(both["open"].to_pylist()) == sorted(not out for out in ended)
        assert rows(both.drop_columns(["open"])) == rows(whole[id])


def test_the_command_marks_them_and_says_when_there_is_nothing(tmp_path: Path) -> None:
    world = make_world(tmp_path, [batch(0)], ENTRIES, 0)
    with pytest.raises(HeddleError, match="query peak has not been evaluated"):
        read_open_windows(str(tmp_path / "local"), world.catalog, "peak")
    evaluate_local(world.catalog, world.plan(), str(tmp_path / "local"))
    command = ["results", str(tmp_path / "catalog"), "peak", "--warehouse", str(tmp_path / "local"), "--open"]
    output = CliRunner().invoke(app, command)
    assert output.exit_code == 0, output.output
    assert "open" in output.output
    assert "True" in output.output
