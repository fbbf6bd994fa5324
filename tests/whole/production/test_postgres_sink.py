"""A sink of Postgres: the rows that are published, each once, also where a key is null; its password is nowhere."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from jobs.host import stops
from jobs.host.stops import KILL_AT
from jobs.results import results_table
from jobs.sinks.deliver import deliver
from tests.whole.production.postgres import Cluster, cluster, postgres
from tests.worlds.sinks import QUERIES, arrive, evaluate, make_sinks_world, plain_rows, read_sql, set_stream
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


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with cluster(port, "hunter2") as running:
        yield running


@pytest.mark.parametrize("corrections", [{}, {"corrections": "2 minutes"}], ids=["", "with corrections"])
@pytest.mark.parametrize("step", ["before", "sink written", "sink committed", "delivered"])
def test_a_server_that_dies_at_a_step_of_a_delivery(
    tmp_path: Path, server: Cluster, step: str, corrections: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, or all went well; with the server up again the next delivery carries on, and each row is there once."""
    queries = [entry for entry in QUERIES if entry["id"] in ("total", "both", "texts")]
    schema = f"{step} {'corrected' if corrections else ''}".strip().replace(" ", "_")
    with sa.create_engine(server.url).begin() as connection:
        connection.execute(sa.text(f"CREATE SCHEMA {schema}"))
    monkeypatch.setenv("HEDDLE_TEST_PG", f"{server.url}?options=-csearch_path%3D{schema}")
    make_sinks_world(tmp_path, (), queries)
    catalog = set_stream(tmp_path, sinks={"pg": {"format": "sql", "url": "env:HEDDLE_TEST_PG"}}, **corrections)
    (tmp_path / "orders").mkdir()
    monkeypatch.setenv(KILL_AT, str(tmp_path / "orders"))
    monkeypatch.setattr(stops.os, "kill", lambda process, number: server.stop())
    lines: list[str] = []
    for number in range(5):  # nothing ends in the first, and the second is what the sink begins with
        arrive(tmp_path, number)
        warehouse = evaluate(tmp_path, catalog)
        if number > 1:
            (tmp_path / "orders" / step).touch()
            stops.step("before")
        deliver(catalog, STREAM, warehouse, lines.append)
        if number > 1:
            assert not list((tmp_path / "orders").iterdir()), "nobody reached the step"
            server.start()
            deliver(catalog, STREAM, warehouse, pytest.fail)
        for id in catalog.statements if number else ():
            expected = plain_rows(results_table(warehouse, catalog, id).to_pylist())
            assert plain_rows(read_sql(tmp_path, id, f"{server.url}?options=-csearch_path%3D{schema}")) == expected
    assert all("sink pg is down" in line and len(line.splitlines()) == 1 for line in lines)
    assert len(lines) == 3 or step in ("sink committed", "delivered")  # where another publication may follow, or none
    assert "hunter2" not in "".join(lines)
