"""What failed or is late is told: by lines in files and to webhooks; and files that arrive are noticed."""

from __future__ import annotations

import asyncio
import json
import socketserver
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

from dags.assets import RESULTS, FilesTrigger, announce_hours, hours_asset
from dags.common import step
from dags.notify import HeddleNotifier, tell_alerts
from jobs.host.say import alert_targets
from optimizer.errors import HeddleError, UnreachableError

pytestmark = pytest.mark.airflow


@pytest.fixture
def webhook() -> Iterator[tuple[str, list[str]]]:
    """A server on this machine, and what it was sent."""
    texts: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            texts.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/hook", texts
    server.shutdown()
    server.server_close()


def test_a_failure_reaches_every_target_that_can_be_reached(
    webhook: tuple[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    address, texts = webhook
    away = "http://127.0.0.1:9/nobody"
    monkeypatch.setenv("HEDDLE_HOME", str(tmp_path))
    monkeypatch.setenv("HEDDLE_ALERTS", f"{away} log file:{tmp_path}/more.log {address}")
    ti = SimpleNamespace(dag_id="heddle_evaluate", task_id="publish", map_index=0)
    HeddleNotifier()({"ti": ti, "run_id": "r1", "exception": ValueError("no\n  good")})
    line = "heddle_evaluate.publish[0] failed in r1: no good"
    assert texts == [line]
    assert (tmp_path / "alerts.log").read_text().endswith(f" {line}\n")
    assert (tmp_path / "more.log").read_text().endswith(f" {line}\n")
    assert any(away in record.getMessage() and "was not sent" in record.getMessage() for record in caplog.records)


def test_a_missed_deadline_is_told_from_the_triggerer(
    webhook: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    address, texts = webhook
    monkeypatch.setenv("HEDDLE_HOME", str(tmp_path))
    monkeypatch.setenv("HEDDLE_ALERTS", address)

    async def miss() -> None:
        context = {"dag_run": {"dag_id": "heddle_evaluate", "dag_run_id": "r2"}}
        await HeddleNotifier(message="has not ended", context=context)

    asyncio.run(miss())
    assert texts == ["heddle_evaluate: r2 has not ended"]


class MailServer(socketserver.StreamRequestHandler):
    """What SMTP needs to take a mail."""

    mails: ClassVar[list[bytes]] = []

    def handle(self) -> None:
        self.wfile.write(b"220 ready\r\n")
        for line in self.rfile:
            if line.upper().startswith(b"DATA"):
                self.wfile.write(b"354 go on\r\n")
                self.mails.append(b"".join(iter(self.rfile.readline, b".\r\n")))
            self.wfile.write(b"250 good\r\n")


def test_a_missed_deadline_is_mailed_by_airflows_own_connection(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), MailServer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        options = "disable_ssl=true&disable_tls=true&from_email=heddle%40example.org"
        monkeypatch.setenv("AIRFLOW_CONN_SMTP_DEFAULT", f"smtp://127.0.0.1:{server.server_address[1]}/?{options}")
        monkeypatch.setenv("HEDDLE_ALERTS", "mailto:ops@example.org")

        async def miss() -> None:
            context = {"dag_run": {"dag_id": "heddle_evaluate", "dag_run_id": "r2"}}
            await HeddleNotifier(message="has not ended", context=context)

        asyncio.run(miss())
        server.shutdown()
    (mail,) = MailServer.mails
    assert b"Subject: Heddle: heddle_evaluate: r2 has not ended" in mail, caplog.text
    assert b"To: ops@example.org" in mail


def test_a_wrong_target_is_refused_in_one_line() -> None:
    with pytest.raises(HeddleError, match="HEDDLE_ALERTS: 'pager' is no target; write log"):
        alert_targets({"HEDDLE_ALERTS": "log pager"})


def test_a_trigger_tells_of_files_that_arrive_and_of_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "old.parquet").touch()

    async def watch() -> object:
        events = FilesTrigger(str(tmp_path), 0.01).run()
        waiting = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0.05)
        (tmp_path / "_hidden").touch()
        (tmp_path / "old.parquet").unlink()
        await asyncio.sleep(0.05)
        assert not waiting.done()
        (tmp_path / "new.parquet").touch()
        return (await waiting).payload

    assert asyncio.run(watch()) == {"folder": str(tmp_path), "files": 1}


def test_a_whole_hour_is_told_by_its_partition_key() -> None:
    from airflow.sdk.execution_time.context import OutletEventAccessors

    task, events = SimpleNamespace(outlets=[RESULTS]), OutletEventAccessors()
    announce_hours("sensors", ["1970-01-01T00:00:00", "1970-01-01T01:00:00"], task, events)
    asset = hours_asset("sensors")
    assert task.outlets == [RESULTS, asset]
    assert list(events) == [asset]
    assert events[asset].partition_keys == {"1970-01-01T00:00:00", "1970-01-01T01:00:00"}


def test_an_alert_of_a_query_reaches_the_targets(
    webhook: tuple[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, texts = webhook
    monkeypatch.setenv("HEDDLE_HOME", str(tmp_path))
    monkeypatch.setenv("HEDDLE_ALERTS", f"log {address}")
    tell_alerts(["peak_1m: 95.5 at 12:00", "peak_1m: 97 at 12:01"])
    assert texts == ["alert: peak_1m: 95.5 at 12:00", "alert: peak_1m: 97 at 12:01"]
    assert [line.split(" ", 1)[1] for line in (tmp_path / "alerts.log").read_text().splitlines()] == texts


@pytest.mark.parametrize(("error", "is_tried_again"), [(HeddleError("wrong"), False), (UnreachableError("down"), True)])
def test_a_service_that_is_down_is_asked_again_and_a_mistake_is_not(error: HeddleError, is_tried_again: bool) -> None:
    from airflow.sdk.exceptions import AirflowException, AirflowFailException

    @step
    def fail() -> None:
        raise error

    with pytest.raises(AirflowException, match=str(error)) as caught:
        fail.function()
    assert isinstance(caught.value, AirflowFailException) is not is_tried_again
