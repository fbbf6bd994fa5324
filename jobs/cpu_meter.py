"""CPU seconds of a process and all its descendants, Spark's Python workers included.

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

_HZ = os.sysconf("SC_CLK_TCK")


def _cpu_by_process(root: int) -> dict[tuple[int, str], float]:
    parent, cpu = {}, {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parent[int(name)] = int(fields[1])
        cpu[(int(name), fields[19])] = (int(fields[11]) + int(fields[12])) / _HZ
    inside = {}
    for (pid, started), seconds in cpu.items():
        ancestor = pid
        while ancestor and ancestor != root:
            ancestor = parent.get(ancestor, 0)
        if ancestor == root:
            inside[(pid, started)] = seconds
    return inside


class CpuMeter:
    def __init__(self, root: int | None = None, poll_seconds: float = 0.25) -> None:
        self._root = root or os.getpid()
        self._poll_seconds = poll_seconds

    def __enter__(self) -> CpuMeter:
        self._before = _cpu_by_process(self._root)
        self._last = dict(self._before)
        self._stop = threading.Event()
        self._started = time.monotonic()
        self._thread = threading.Thread(target=self._poll, daemon=True)
        self._thread.start()
        return self

    def _poll(self) -> None:
        while not self._stop.wait(self._poll_seconds):
            self._last.update(_cpu_by_process(self._root))

    def __exit__(self, *exc: object) -> None:
        self.wall_seconds = time.monotonic() - self._started
        self._stop.set()
        self._thread.join()
        self._last.update(_cpu_by_process(self._root))
        self.cpu_seconds = sum(s - self._before.get(p, 0.0) for p, s in self._last.items())
