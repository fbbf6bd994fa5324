"""Tables by their own logs: what appends added since an offset; a rewrite adds nothing, a delete is refused."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.engine.sources import delta, iceberg
from jobs.engine.sources.contract import Snapshot
from optimizer.errors import HeddleError
from tests.worlds.tables import STREAM, TableWorld, rows

LOGS = {"delta": delta, "iceberg": iceberg}


def events_of(snapshots: list[Snapshot]) -> int:
    """The events in the files of some snapshots."""
    files = [file.path.removeprefix("file://") for snapshot in snapshots for file in snapshot.files]
    return sum(pq.read_metadata(path).num_rows for path in files)


@pytest.mark.parametrize(("format", "log"), LOGS.items())
def test_what_appends_have_added(tmp_path: Path, format: str, log: ModuleType) -> None:
    world = TableWorld(tmp_path, format)
    world.append(rows(0))
    stream = world.catalog().streams[STREAM]
    (first,) = log.list_snapshots(stream, "")
    assert events_of([first]) == 40
    assert log.list_snapshots(stream, first.offset) == []

    world.append(rows(1))
    world.append(rows(2))
    later = log.list_snapshots(stream, first.offset)
    assert [snapshot.before for snapshot in later] == [first.offset, later[0].offset]
    assert events_of(later) == 80
    world.compact()
    assert events_of(log.list_snapshots(stream, first.offset)) == 80, "a rewrite adds no event"
    assert sum(pq.read_metadata(file.path.removeprefix("file://")).num_rows for file in log.list_files(stream)) == 120
    assert log.read_columns(stream).types["x"] == pa.int32()

    world.delete()
    with pytest.raises(HeddleError, match=r"takes appends only|deleted"):
        log.list_snapshots(stream, first.offset)
