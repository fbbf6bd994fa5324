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
Process = tuple[int, str]  # its id, and when it was started: ids are used again


class _Tree:
    """A process and its descendants. Others are looked at once, so that a poll costs little on a busy machine."""

    def __init__(self, root: int) -> None:
        self._mine = {root}
        self._others: set[int] = set()

    def cpu(self) -> dict[Process, float]:
        """CPU seconds of those that are alive."""
        alive = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        self._others &= alive
        self._mine &= alive
        found = {pid: fields for pid in alive - self._others if (fields := _stat(pid))}
        parent = {pid: int(fields[1]) for pid, fields in found.items()}
        for pid in found:
            self._place(pid, parent)
        return {
            (pid, fields[19]): (int(fields[11]) + int(fields[12])) / _HZ
            for pid, fields in found.items()
            if pid in self._mine
        }

    def _place(self, pid: int, parent: dict[int, int]) -> None:
        line = [pid]
        while line[-1] in parent and line[-1] not in self._mine:
            line.append(parent[line[-1]])
        (self._mine if line[-1] in self._mine else self._others).update(line[:-1])


def _stat(pid: int) -> list[str]:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()
    except OSError:
        return []


class CpuMeter:
    """Meters what is done inside its block; its own thread does not count."""

    def __init__(self, root: int | None = None, poll_seconds: float = 0.25) -> None:
        self._tree = _Tree(root or os.getpid())
        self._poll_seconds = poll_seconds
        self._own = 0.0

    def __enter__(self) -> CpuMeter:
        self._before = self._tree.cpu()
        self._last = dict(self._before)
        self._stop = threading.Event()
        self._started = time.monotonic()
        self._thread = threading.Thread(target=self._poll, daemon=True)
        self._thread.start()
        return self

    def _poll(self) -> None:
        while not self._stop.wait(self._poll_seconds):
            self._last.update(self._tree.cpu())
        self._own = time.thread_time()

    def __exit__(self, *exc: object) -> None:
        self.wall_seconds = time.monotonic() - self._started
        self._stop.set()
        self._thread.join()
        self._last.update(self._tree.cpu())
        spent = sum(s - self._before.get(p, 0.0) for p, s in self._last.items())
        self.cpu_seconds = max(0.0, spent - self._own)
