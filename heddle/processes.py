"""The processes that `heddle demo` and `heddle ui` start: Airflow, and services that serve until they are stopped.

Airflow has a home of its own and runs DAGs for real, without a scheduler. Every service is started in a process
group of its own and has a log of its own.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from optimizer.errors import HeddleError

ROOT = Path(__file__).resolve().parents[1]
SPARK = {"conn_type": "spark", "host": "local[*]", "extra": {"deploy-mode": "client"}}


def environment(home: Path) -> dict[str, str]:
    """Return the environment variables that Airflow and the steps need, for a platform with this home."""
    own = {
        "HEDDLE_HOME": str(home),
        "AIRFLOW_HOME": str(home / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW_CONN_SPARK_DEFAULT": os.environ.get("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(SPARK)),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")])),
        "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable),
        "SPARK_LOCAL_IP": os.environ.get("SPARK_LOCAL_IP", "127.0.0.1"),
    }
    return {**os.environ, **own}


@dataclass
class Airflow:
    """A process that runs DAGs on request; its own chatter is in a log file."""

    process: subprocess.Popen[str]
    log: Path
    dags: list[str]

    def run(self, dag: str, conf: dict[str, Any], progress: Callable[[str], None]) -> dict[str, Any]:
        """Run a DAG from its first task to its last; the answer has its state."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"dag": dag, "conf": conf}) + "\n")
        self.process.stdin.flush()
        while True:
            answer = self._answer()
            if "progress" not in answer:
                return answer
            progress(answer["progress"])

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise HeddleError(f"Airflow has ended; {self.log} says why")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def start_airflow(home: Path, extra: dict[str, str] | None = None) -> Airflow:
    """Start Airflow with its home below the platform's."""
    log = home / "airflow" / "runs.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as sink:
        process = subprocess.Popen(
            [sys.executable, "-m", "dags.local_runs"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=sink,
            text=True,
            env={**environment(home), **(extra or {})},
            cwd=home,
        )
    airflow = Airflow(process, log, [])
    hello = airflow._answer()
    if hello["errors"]:
        raise HeddleError(f"Airflow cannot read the DAGs; {log} says why")
    airflow.dags = hello["dags"]
    return airflow


LOOPBACK = "127.0.0.1"
PATIENCE = 300  # seconds for a service to answer
FAREWELL = 20  # seconds for a service to end by itself
TRIED = 200  # ports from the default on


@dataclass
class Service:
    """A process that serves, its log, and the signal that ends it."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    ending: signal.Signals = signal.SIGTERM

    def check(self) -> None:
        """Raise an error when the process has ended by itself."""
        if self.process.poll() is not None:
            raise HeddleError(f"{self.name} has ended; {self.log} says why")


def start_service(
    name: str,
    command: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    ending: signal.Signals = signal.SIGTERM,
) -> Service:
    """Start a service; Ctrl-C in the terminal does not reach it, whoever started it decides when it ends."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as sink:
        process = subprocess.Popen(
            command, env=dict(environment), stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, start_new_session=True
        )
    return Service(name, process, log, ending)


def wait_for(service: Service, url: str) -> None:
    """Wait until an address answers."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        service.check()
        try:
            with urlopen(url, timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.3)
    raise HeddleError(f"{service.name} does not answer at {url}; {service.log} may say why")


def stop_services(services: Sequence[Service]) -> None:
    """Ask every service to end, then end what is left of its group."""
    for service in services:
        if service.process.poll() is None:
            service.process.send_signal(service.ending)
    end = time.monotonic() + FAREWELL
    for service in services:
        try:
            service.process.wait(max(end - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            continue
        finally:
            _end_group(service.process.pid)
    for service in services:
        service.process.wait()


def free_port(first: int) -> int:
    """Return the port, or the next one that nobody listens on."""
    for port in range(first, min(first + TRIED, 1 << 16)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
            return port
    raise HeddleError(f"no port from {first} on is free; name another with --port")


def _end_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
