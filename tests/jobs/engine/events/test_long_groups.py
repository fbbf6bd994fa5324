"""A large row group that one task reads while others wait is named, with what to do; smaller ones are split."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.engine.events import parquet
from jobs.engine.events.parquet import name_long_groups, splits_of
from jobs.engine.sources.contract import File

ROWS = 100_000


@pytest.mark.parametrize(("groups", "tasks", "is_named"), [(1, 2, True), (1, 1, False), (4, 2, False), (2, 8, True)])
def test_long_row_groups_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, groups: int, tasks: int, is_named: bool
) -> None:
    monkeypatch.setattr(parquet, "LARGE", 1 << 10)
    path = tmp_path / "all.parquet"
    pq.write_table(pa.table({"n": range(ROWS)}), path, row_group_size=ROWS // groups)
    heaps = splits_of([File(str(path), path.stat().st_size)], tasks)
    assert len(heaps) == min(groups, tasks)
    lines = name_long_groups(heaps, tasks)
    assert bool(lines) is is_named
    for line in lines:
        assert line.startswith(f"{path}: {ROWS // groups:,} events")
        assert "write row groups of about 1,000,000 rows" in line
