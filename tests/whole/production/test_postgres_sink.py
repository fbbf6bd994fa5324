"""A sink of Postgres: the rows that are published, each once, also where a key is null; its password is nowhere."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
import sqlalchemy as sa

from jobs.results import results_table
from jobs.sinks.deliver import deliver
from tests.whole.production.postgres import postgres
from tests.worlds.sinks import arrive, evaluate, make_sinks_world, plain_rows, read_sql, set_stream
from tests.worlds.warehouse import STREAM


def test_rows_come_once_and_take_the_place_of_those_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_sinks_world(tmp_path, ())
    catalog = set_stream(tmp_path, sinks={"pg": {"format": "sql", "url": "env:HEDDLE_TEST_PG"}})
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with postgres(port, "hunter2"):
        url = f"postgresql://postgres:hunter2@127.0.0.1:{port}/postgres"
        monkeypatch.setenv("HEDDLE_TEST_PG", url)
        for number in range(2):
            arrive(tmp_path, number)
            deliver(catalog, STREAM, evaluate(tmp_path, catalog), pytest.fail)
        for id in catalog.statements:
            expected = results_table(str(tmp_path / "warehouse"), catalog, id).to_pylist()
            assert plain_rows(read_sql(tmp_path, id, url)) == plain_rows(expected)
        again = sa.text("INSERT INTO total SELECT * FROM total WHERE k IS NULL LIMIT 1")
        with sa.create_engine(url).begin() as connection, pytest.raises(sa.exc.IntegrityError, match="total_row"):
            connection.execute(again)
    arrive(tmp_path, 2)
    lines: list[str] = []
    deliver(catalog, STREAM, evaluate(tmp_path, catalog), lines.append)
    assert len(lines) == 1
    assert "sink pg is down" in lines[0]
    assert "hunter2" not in lines[0]
