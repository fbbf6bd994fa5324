"""The rate that an evaluation without a plan is planned for."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.measure.stream import estimated_rate
from optimizer.catalog.model.query import Stream
from tests.worlds.readings import make_world


@pytest.mark.parametrize("kind", [pa.timestamp("us", "UTC"), pa.timestamp("ms")])
def test_rows_over_the_time_they_span(tmp_path: Path, kind: pa.DataType) -> None:
    for number in range(3):
        start = number * 10_000_000
        times = pa.array([start + step * 100_000 for step in range(101)]).cast(pa.timestamp("us")).cast(kind)
        pq.write_table(pa.table({"other": [{"x": 1}] * 101, "ts": times}), tmp_path / f"{number}.parquet")
    (tmp_path / "_ignored.parquet").write_bytes(b"")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    rate = estimated_rate(Stream("s", "ts", 0, path=str(tmp_path)))
    assert rate == pytest.approx(303 / 30)


def test_nothing_to_tell_from(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    assert estimated_rate(world.catalog.streams["readings"]) is None
    assert estimated_rate(Stream("s", "ts", 0, format="csv", path=str(tmp_path))) is None
