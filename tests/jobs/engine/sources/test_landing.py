"""Landed messages: every offset once, whoever dies in between; what is old and read goes."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from jobs.engine.sources import landing
from jobs.engine.sources.landing import MALFORMED_SCHEMA, Landing
from jobs.host.storage import Storage
from optimizer.catalog.model.query import Stream
from optimizer.errors import HeddleError

NO_MALFORMED = MALFORMED_SCHEMA.empty_table()


@pytest.fixture
def stream(tmp_path: Path) -> Stream:
    for folder in (landing.LOG, landing.EVENTS, landing.MALFORMED):
        Storage(str(tmp_path)).make_folder(folder)
    return Stream("events", "ts", 0, "kafka", str(tmp_path), options={"topic": "t", "retention": "1 hour"})


def land(stream: Stream, before: Landing | None, first: int, end: int, malformed: int = 0) -> Landing:
    """Land the messages of partition 0 with these offsets."""
    wrong = pa.table([[0] * malformed, [first] * malformed, ["no JSON"] * malformed, [b"x"] * malformed],
                     schema=MALFORMED_SCHEMA)  # fmt: skip
    events = pa.table({"n": list(range(first, end - malformed))})
    return landing.commit_landing(stream, before, "topic", {0: (first, end)}, events, wrong)


def test_the_next_landing_goes_on_where_the_newest_ended(stream: Stream) -> None:
    assert landing.next_offsets(landing.newest_landing(stream)) == {}
    first = land(stream, None, 0, 5)
    second = land(stream, first, 5, 9)
    assert landing.newest_landing(stream) == second
    assert landing.next_offsets(second) == {0: 9}
    assert len(landing.list_landed_files(stream)) == 2
    with pytest.raises(HeddleError, match="another run has landed these messages meanwhile"):
        land(stream, first, 5, 7)


def test_landings_since_an_offset(stream: Stream) -> None:
    first = land(stream, None, 0, 5)
    (snapshot,) = landing.list_landings(stream, "")
    land(stream, first, 5, 9)
    assert [len(later.files) for later in landing.list_landings(stream, snapshot.offset)] == [1]
    with pytest.raises(HeddleError, match="has other landed events than the batches before have read"):
        landing.list_landings(stream, json.dumps({"landing": "another", "done": 0}))


def test_files_of_a_landing_that_died_are_swept(stream: Stream) -> None:
    land(stream, None, 0, 5)
    dead = Path(stream.path) / landing.EVENTS / f"{0:012d}-dead.parquet"
    later = dead.with_name(f"{1:012d}-under-way.parquet")
    for file in (dead, later):
        file.write_bytes(b"")
    landing.sweep_landing(stream)
    assert (dead.exists(), later.exists()) == (False, True)
    assert len(landing.list_landed_files(stream)) == 1


def test_what_is_old_and_read_is_dropped(stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = land(stream, None, 0, 5, malformed=2)
    land(stream, entry, 5, 9)
    assert landing.read_malformed(stream)["kafka_offset"].to_pylist() == [0, 0]
    assert landing.tend_landings(stream, "") == [
        f"2 messages of t do not fit the schema and are in {stream.path}/{landing.MALFORMED}, with offset and reason"
    ]
    offset = json.dumps({"landing": entry.landing, "done": 0})
    now = landing.time.time_ns()
    landing.tend_landings(stream, offset)
    assert len(landing.list_landed_files(stream)) == 2, "read, but younger than the retention"
    monkeypatch.setattr(landing.time, "time_ns", lambda: now + 2 * 3600 * 10**9)
    landing.tend_landings(stream, offset)
    assert len(landing.list_landed_files(stream)) == 1, "the newest stays: it says where the next one begins"
    with pytest.raises(HeddleError, match="landed events expired before this warehouse has read them"):
        landing.list_landings(stream, json.dumps({"landing": entry.landing, "done": -1}))
