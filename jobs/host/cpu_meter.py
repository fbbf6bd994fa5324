"""CPU seconds of a process and all its descendants, Spark's Java and Python workers included.

    with CpuMeter() as m:
        job()
    print(m.cpu_seconds, m.wall_seconds)

Sums every process's own user and system time, polled, so that a worker that exits is not lost (pyspark's daemon does
not reap its workers, so the children fields of rusage miss them).
"""

from __future__ import annotations

import os
import threading
import time

import psutil

Process = tuple[int, float]  # its id, and when it was started: ids are used again


def _cpu_of_tree(root: psutil.Process) -> dict[Process, float]:
    """Return the CPU seconds of a process and of its descendants that are alive."""
    spent: dict[Process, float] = {}
    try:
        processes = [root, *root.children(recursive=True)]
    except psutil.Error:
        return spent
    for process in processes:
        try:
            times = process.cpu_times()
        except psutil.Error:  # it has ended since it was listed
            continue
        spent[process.pid, process.create_time()] = times.user + times.system
    return spent


class CpuMeter:
    """Meters what is done inside its block; its own thread does not count."""

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
        spent = sum(s - self._before.get(p, 0.0) for p, s in self._last.items())
        self.cpu_seconds = max(0.0, spent - self._own)
