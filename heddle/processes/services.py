"""Processes that serve until they are stopped: started in groups of their own, every one with a log of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from optimizer.errors import HeddleError

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


def start(
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


def stop(services: Sequence[Service]) -> None:
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


def free_port(wanted: int) -> int:
    """Return the port, or the next one that nobody listens on."""
    for port in range(wanted, min(wanted + TRIED, 1 << 16)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
            return port
    raise HeddleError(f"no port from {wanted} on is free; name another with --port")


def _end_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
