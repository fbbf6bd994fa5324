"""MLflow that is down or in trouble: a line at once, and never a plan in the place of the champion."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from typer.testing import CliRunner

from heddle.main import app
from jobs.host.settings import Settings
from jobs.plans.replan import plan_in_force
from jobs.tracking.store import open_store
from optimizer.errors import UnreachableError
from tests.worlds.platform import catalog_of


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address at which nobody listens."""
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{place.getsockname()[1]}"


class InTrouble(BaseHTTPRequestHandler):
    """A server that answers, and can do nothing."""

    def do_GET(self) -> None:
        self.send_error(503)

    do_POST = do_GET  # noqa: N815 (as the server asks for it)

    def log_message(self, *_: object) -> None:
        """Write nothing."""


def test_a_server_that_is_down_is_told_in_a_line(nobody: str, place: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnreachableError) as caught:
        open_store(replace(place, tracking=f"http://me:secret@{nobody}"))
    assert str(caught.value).startswith(f"MLflow does not answer at http://{nobody} ([Errno 111] Connection refused)")
    monkeypatch.setenv("HEDDLE_TRACKING", f"http://{nobody}")
    done = CliRunner().invoke(app, ["plans", "history", "readings"])
    assert isinstance(done.exception, UnreachableError)


def test_a_server_in_trouble_is_not_taken_for_one_without_a_champion(
    place: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither is a stream planned anew, nor does anything wait for minutes here."""
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with HTTPServer(("127.0.0.1", 0), InTrouble) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        broken = open_store(replace(place, tracking=f"http://me:secret@127.0.0.1:{server.server_port}"))
        lines: list[str] = []
        with pytest.raises(UnreachableError, match="503") as caught:
            plan_in_force(broken, catalog_of(place), "readings", lines.append)
        server.shutdown()
    assert len(str(caught.value).splitlines()) == 1
    assert "secret" not in str(caught.value)
    assert lines == []
