"""Services are started, waited for and stopped with everything they started; a taken port is passed over."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from pathlib import Path

import pytest

from heddle.processes import LOOPBACK, free_port, start_service, stop_services, wait_for
from optimizer.errors import HeddleError

PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""


def python(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def said(log: Path) -> str:
    end = time.monotonic() + 60
    while not log.read_text().endswith("\n"):
        assert time.monotonic() < end
        time.sleep(0.05)
    return log.read_text()


def test_a_taken_port_is_passed_over() -> None:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert free_port(port) > port


def test_no_port_left_is_one_line() -> None:
    with pytest.raises(HeddleError, match="--port"):
        free_port(1 << 16)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_what_a_service_started_ends_with_it(tmp_path: Path, ending: signal.Signals) -> None:
    service = start_service("it", python(PARENT), os.environ, tmp_path / "logs" / "it.log", ending)
    child = int(said(service.log))
    stop_services([service])
    assert service.process.returncode is not None
    with pytest.raises(ProcessLookupError):
        _alive(child)


def test_a_service_that_ends_by_itself_is_named_with_its_log(tmp_path: Path) -> None:
    service = start_service("it", python("raise SystemExit(3)"), os.environ, tmp_path / "it.log")
    with pytest.raises(HeddleError, match=r"it has ended; .*it\.log says why"):
        wait_for(service, f"http://{LOOPBACK}:{free_port(20000)}/")
    stop_services([service])


def test_a_service_that_answers_is_waited_for(tmp_path: Path) -> None:
    port = free_port(20000)
    command = [sys.executable, "-m", "http.server", str(port), "--bind", LOOPBACK]
    service = start_service("it", command, os.environ, tmp_path / "it.log")
    try:
        wait_for(service, f"http://{LOOPBACK}:{port}/")
        assert free_port(port) == port + 1
    finally:
        stop_services([service])
    assert free_port(port) == port


def _alive(process: int) -> None:
    """A process that has ended may wait for its parent to notice."""
    for _ in range(100):
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
        if state == "Z":
            raise ProcessLookupError
        time.sleep(0.05)
