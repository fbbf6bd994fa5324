"""Sources and sinks that are not there or do not fit, on the command line: one line, exit code 2, nothing written."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from deltalake import write_deltalake

from heddle.main import main
from jobs.engine.sources import kafka
from tests.worlds.sinks import arrive, make_sinks_world
from tests.worlds.tables import TableWorld
from tests.worlds.warehouse import STREAM

SERVERS = "127.0.0.1:9"  # where nobody listens
MISSING: dict[str, tuple[dict[str, Any], str]] = {
    "kafka": (
        {"path": "landed", "options": {"servers": SERVERS, "topic": "nobody", "schema": "ts TIMESTAMP, k STRING"}},
        f"the broker {SERVERS} cannot be read",
    ),
    "delta": ({"path": "lake"}, "there is no Delta table; create it or mend `path` of stream events"),
    "iceberg": (
        {"table": "db.events", "options": {"uri": "sqlite:///nobody/catalog.db"}},
        "the Iceberg catalog of stream events cannot be read",
    ),
}


@pytest.fixture
def refuse(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Evaluate by the command line, without Spark, which refuses; return the one line that it says of that."""
    monkeypatch.setattr(kafka, "PATIENCE", 1.0)

    def run(folder: Path, *options: str) -> str:
        arguments = [str(folder / "catalog"), "--stream", STREAM, "--warehouse", str(folder / "warehouse"), "--local"]
        monkeypatch.setattr(sys, "argv", ["heddle", "evaluate", *arguments, *options])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        *progress, line = capsys.readouterr().err.splitlines()
        assert all(text.startswith(("planned ", "batch ")) for text in progress), progress
        return line

    return run


@pytest.mark.parametrize("format", MISSING)
def test_a_source_that_is_not_there(tmp_path: Path, format: str, refuse: Callable[..., str]) -> None:
    source, line = MISSING[format]
    (tmp_path / "catalog").mkdir()
    stream = {"source": {"format": format, **source}, "time": "ts"}
    queries = [{"id": "n", "stream": STREAM, "select": "count(*)", "range": "1 minute"}]
    (tmp_path / "catalog" / "c.yaml").write_text(yaml.dump({"streams": {STREAM: stream}, "queries": queries}))
    assert line in refuse(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["catalog"]


def test_a_table_that_its_catalog_does_not_have(tmp_path: Path, refuse: Callable[..., str]) -> None:
    world = TableWorld(tmp_path, "iceberg")
    world.iceberg().catalog.drop_table("db.events")
    world.catalog()
    assert "has no such table" in refuse(tmp_path)
    assert not (tmp_path / "warehouse").exists()


def test_a_sink_whose_table_has_other_columns(tmp_path: Path, refuse: Callable[..., str]) -> None:
    """The answers themselves are evaluated and published."""
    make_sinks_world(tmp_path, ("delta",))
    write_deltalake(str(tmp_path / "lake" / "total"), pa.table({"k": ["a"], "other": [1]}))
    before = sorted(tmp_path.glob("lake/total/**/*"))
    arrive(tmp_path, 0, 1)
    line = refuse(tmp_path, "--files-per-batch", "1")
    assert line.startswith(f"{STREAM}: sink delta: the table total has other ")
    assert "nothing was written to it" in line
    assert sorted(tmp_path.glob("lake/total/**/*")) == before
