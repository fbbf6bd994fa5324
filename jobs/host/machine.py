"""This machine as far as speed goes: a fingerprint that tells its runs from others, and a meter of CPU seconds."""

from __future__ import annotations

import hashlib
import os
import platform
import threading
import time
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path

import psutil

LIBRARIES = ("numba", "numpy", "pyarrow", "pyspark")
GIBIBYTE = 1 << 30
Process = tuple[int, float]  # its id, and when it was started: ids are used again


@cache
def machine_facts() -> dict[str, str]:
    """Return what makes a machine fast or slow: processor, cores, memory, and the versions of what runs on it."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count() or 1),
        "memory": f"{round(psutil.virtual_memory().total / GIBIBYTE)} GiB",
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


@cache
def machine_fingerprint() -> str:
    """Return the fingerprint of this machine."""
    return fingerprint_of(machine_facts())


def fingerprint_of(facts: Mapping[str, str]) -> str:
    """Return a digest of a machine's facts, "" of none; two machines with the same one are equally fast.

    >>> len(fingerprint_of({"cores": "2"})), fingerprint_of({"cores": "2"}) == fingerprint_of({"cores": "4"})
    (12, False)
    """
    text = "\n".join(f"{name} {value}" for name, value in sorted(facts.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:12] if facts else ""


def _processor() -> str:
    """Return the processor's name; platform.processor() says only its architecture on Linux."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _cpu_of_tree(root: psutil.Process) -> dict[Process, float]:
    """Return the CPU seconds of a process and of its descendants that are alive."""
    seconds: dict[Process, float] = {}
    try:
        processes = [root, *root.children(recursive=True)]
    except psutil.Error:
        return seconds
    for process in processes:
        try:
            times = process.cpu_times()
        except psutil.Error:  # it has ended since it was listed
            continue
        seconds[process.pid, process.create_time()] = times.user + times.system
    return seconds


class CpuMeter:
    """Meters the CPU seconds of a process and all its descendants, Spark's Java and Python workers included.

    What is done inside its block counts, but not its own thread. It sums every process's own user and system time,
    polled, so that a worker that exits is not lost (pyspark's daemon does not reap its workers, so the children fields
    of rusage miss them).
    """

    def __init__(self, root: int | None = None, poll_seconds: float = 0.25) -> None:
        self._root = psutil.Process(root or os.getpid())
        self._poll_seconds = poll_seconds
        self._own = 0.0

    def __enter__(self) -> CpuMeter:
        self._before = _cpu_of_tree(self._root)
        self._last = dict(self._before)
        self._stop = threading.Event()
        self._started = time.monotonic()
        self._thread = threading.Thread(target=self._poll, daemon=True)
        self._thread.start()
        return self

    def _poll(self) -> None:
        while not self._stop.wait(self._poll_seconds):
            self._last.update(_cpu_of_tree(self._root))
        self._own = time.thread_time()

    def __exit__(self, *exc: object) -> None:
        self.wall_seconds = time.monotonic() - self._started
        self._stop.set()
        self._thread.join()
        self._last.update(_cpu_of_tree(self._root))
        seconds = sum(s - self._before.get(p, 0.0) for p, s in self._last.items())
        self.cpu_seconds = max(0.0, seconds - self._own)
