"""An alert is raised once per window, whatever is run again, and handed out once; the commands tell of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from heddle.main import app
from jobs.engine.warehouse.ledger import newest_ledger, release, require_audit, settle
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.results import results_table
from jobs.sinks.alerts import Alert, alerts_table
from jobs.sinks.deliver import deliver
from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.write import print_catalog
from optimizer.errors import CatalogError, HeddleError
from tests.jobs.sinks.test_sinks import Killed, kill_at
from tests.worlds.sinks import QUERIES, arrive, evaluate, make_sinks_world, set_stream
from tests.worlds.streams import SECOND, odd_row
from tests.worlds.warehouse import STREAM, add_batch, query

__all__ = ["kill_at"]
BUSY = query("busy", "count(*)", 10 * SECOND, group_by=["k"]) | {"alert": "value > 4 AND k <> 'b'"}
STEPS = ("entered", "alerts raised", "committed")


def expected(folder: Path) -> list[str]:
    answers = results_table(str(folder / "warehouse"), load_catalog(folder / "catalog"), "busy").to_pylist()
    return sorted(repr(row) for row in answers if row["count(1)"] > 4 and row["k"] is not None and row["k"] != "b")


def test_a_window_raises_one_alert_and_is_told_of_once(tmp_path: Path, kill_at: Callable[[str], None]) -> None:
    catalog = make_sinks_world(tmp_path, (), [*QUERIES, BUSY])
    told: list[Alert] = []
    for number, name in enumerate(STEPS):
        arrive(tmp_path, 2 * number, 2 * number + 1)
        kill_at(name)
        for _ in range(3):
            with suppress(Killed):
                told += deliver(catalog, STREAM, evaluate(tmp_path, catalog), pytest.fail)
    rows = alerts_table(stream_storage(str(tmp_path / "warehouse"), STREAM)).to_pylist()
    assert len(rows) == len(expected(tmp_path)) > 3
    assert len({row["row"] for row in rows}) == len(rows)
    assert [vars(alert) for alert in told] == rows
    assert {(row["query"], row["condition"]) for row in rows} == {("busy", "`count(1)` > 4 AND k <> 'b'")}


def test_a_window_that_is_corrected_raises_no_second_alert(tmp_path: Path) -> None:
    """Nor does one that is released after its correction."""
    make_sinks_world(tmp_path, (), [{**BUSY, "alert": "value > 0"}])
    catalog = set_stream(tmp_path, corrections="2 minutes")
    storage = stream_storage(str(tmp_path / "warehouse"), STREAM)
    require_audit(storage)
    for number, passed in enumerate((True, True, False, True)):
        if passed:
            arrive(tmp_path, number)
        else:  # the batch that is released corrects nothing itself
            add_batch(tmp_path, number, [odd_row((60 + place % 30) * SECOND, place) for place in range(60)])
        evaluate(tmp_path, catalog)
        settle(storage, newest_ledger(storage), newest(storage), passed)
        deliver(catalog, STREAM, str(tmp_path / "warehouse"), pytest.fail)
    release(storage, 2)
    deliver(catalog, STREAM, str(tmp_path / "warehouse"), pytest.fail)
    alerts = [json.loads(row["row"]) for row in alerts_table(storage).to_pylist()]
    windows = [json.dumps([alert["k"], alert["window"]]) for alert in alerts]
    assert len(set(windows)) == len(windows)
    history = results_table(str(tmp_path / "warehouse"), catalog, "busy", revisions=True).to_pylist()
    places = [repr((row["k"], row["window"])) for row in history]
    assert len(set(places)) == len(windows) < len(places)


def test_only_what_is_published_after_the_alert_was_asked_for(tmp_path: Path) -> None:
    catalog = make_sinks_world(tmp_path, (), [{**BUSY, "alert": "1 = 0"}])
    arrive(tmp_path, 0, 1)
    assert deliver(catalog, STREAM, evaluate(tmp_path, catalog), pytest.fail) == []
    file = tmp_path / "catalog" / "catalog.yaml"
    file.write_text(file.read_text().replace("1 = 0", "value > 0"))
    catalog = load_catalog(tmp_path / "catalog")
    assert deliver(catalog, STREAM, str(tmp_path / "warehouse"), pytest.fail) == []
    arrive(tmp_path, 2)
    told = deliver(catalog, STREAM, evaluate(tmp_path, catalog), pytest.fail)
    assert {alert.batch for alert in told} == {2}


def test_a_wrong_sink_does_not_silence_an_alert(tmp_path: Path) -> None:
    make_sinks_world(tmp_path, (), [BUSY])
    catalog = set_stream(tmp_path, sinks={"wrong": {"format": "sql", "url": "env:HEDDLE_NOWHERE"}})
    arrive(tmp_path, 0, 1)
    said: list[str] = []
    with pytest.raises(HeddleError, match="HEDDLE_NOWHERE is not set"):
        deliver(catalog, STREAM, evaluate(tmp_path, catalog), said.append)
    assert len(said) == len(expected(tmp_path)) > 0


def command(folder: Path, *words: str) -> Result:
    place = [str(folder / "catalog"), "--stream", STREAM, "--warehouse", str(folder / "warehouse")]
    return CliRunner().invoke(app, [words[0], *place, *words[1:]])


def test_the_commands_deliver_and_tell(tmp_path: Path) -> None:
    make_sinks_world(tmp_path, ("delta", "sql"), [BUSY])
    arrive(tmp_path, 0, 1)
    assert "has not been evaluated" in str(command(tmp_path, "alerts").exception)
    output = command(tmp_path, "evaluate", "--local")
    assert output.exit_code == 0, output.output
    assert output.output.count("alert: busy: k ") == len(expected(tmp_path))
    *said, last = command(tmp_path, "publish").output.splitlines()
    assert last.startswith("Next: heddle status ")
    assert said == [
        "sink delta (delta) has all up to batch 0",
        "sink sql (sql) has all up to batch 0",
    ]
    state = json.loads(command(tmp_path, "status", "--json").output)
    assert state["sinks"]["sql"] == {"format": "sql", "batch": 0, "behind": 0}
    assert len(json.loads(command(tmp_path, "alerts", "--json").output)) == len(expected(tmp_path))
    assert len(command(tmp_path, "alerts").output.splitlines()) == len(expected(tmp_path)) + 1  # what to do next
    assert "other: the catalog has no such query" in str(command(tmp_path, "alerts", "--query", "other").exception)
    set_stream(tmp_path, sinks={"wrong": {"format": "sql", "url": "env:HEDDLE_NOWHERE"}})
    refused = command(tmp_path, "publish").exception
    assert isinstance(refused, HeddleError)  # which main turns into exit code 2
    assert "HEDDLE_NOWHERE is not set" in str(refused)
    assert "wrong (sql) has nothing yet; 1 to come" in command(tmp_path, "status").output


@pytest.mark.parametrize(
    ("sink", "line"),
    [
        ({"format": "detla", "path": "x"}, "there is no format 'detla'; did you mean delta?"),
        ({"format": "delta"}, "it has no place; give it one path"),
        ({"format": "sql", "path": "x", "url": "env:A"}, "it has path and url; give it one path or url"),
        ({"format": "sql", "url": "postgresql://me:hunter2@db/x"}, "its url is refused; write env:VARIABLE"),
        ({"format": "delta", "path": "x", "namespace": "n"}, "the namespace 'n' is refused"),
        ({"format": "iceberg", "catalog": "N!"}, "the catalog 'N!' is refused"),
        ({"format": "delta", "path": "/etc/lake"}, "is outside the allowed folders"),
        ({"format": "delta", "pth": "x"}, "there is no field 'pth'; did you mean path?"),
        ({"path": "x"}, "format is missing"),
    ],
)
def test_a_wrong_sink_is_one_line(tmp_path: Path, sink: dict[str, str], line: str) -> None:
    make_sinks_world(tmp_path, ())
    with pytest.raises(CatalogError) as error:
        set_stream(tmp_path, sinks={"lake": sink})
    assert len(str(error.value).splitlines()) == 1
    assert line in str(error.value)
    assert "hunter2" not in str(error.value)


def test_sinks_and_alerts_are_printed_and_change_no_plan(tmp_path: Path) -> None:
    make_sinks_world(tmp_path, ("iceberg",), [BUSY])
    catalog = set_stream(tmp_path, sinks={"pg": {"format": "sql", "url": "airflow:answers", "namespace": "public"}})
    (tmp_path / "again").mkdir()
    for name, text in print_catalog(catalog).items():
        (tmp_path / "again" / name).write_text(text)
    again = load_catalog(tmp_path / "again")
    assert again == catalog
    assert again.streams[STREAM].sinks == catalog.streams[STREAM].sinks
    bare = set_stream(tmp_path, sinks={})
    assert bare != catalog
    assert bare.fingerprint(STREAM) == catalog.fingerprint(STREAM)
    sql = "-- alert: n > 4\nSELECT k, count(*) AS n FROM events GROUP BY k, window(ts, '10 seconds')"
    (tmp_path / "catalog" / "second.sql").write_text(sql)
    assert load_catalog(tmp_path / "catalog").statements["second"].alert == "n > 4"
    (tmp_path / "catalog" / "second.sql").write_text(sql.replace("n > 4", "missing > 4"))
    with pytest.raises(CatalogError, match="alert: 'missing' is no column of the answer"):
        load_catalog(tmp_path / "catalog")
