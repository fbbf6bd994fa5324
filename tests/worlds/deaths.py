"""Processes that die at a step, without a process: what is raised there, nothing of the product catches."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest.mock import patch

from jobs.host import stops
from jobs.host.stops import KILL_AT


class Killed(BaseException):
    """The process would be dead here."""


@contextmanager
def killed_at(steps: tuple[str, ...]) -> Iterator[None]:
    """Let steps end the process, each once: nothing of the product catches what is raised."""
    if not steps:
        yield
        return

    def die(process: int, number: int) -> None:
        raise Killed

    with tempfile.TemporaryDirectory() as orders:
        for step in steps:
            Path(orders, step).touch()
        with patch.dict(os.environ, {KILL_AT: orders}), patch.object(stops.os, "kill", die):
            yield


def run_with_deaths(steps: Sequence[str], run: Callable[[], None]) -> None:
    """Run something that dies once at each of some steps, if it comes there, and is started again."""
    for _ in range(len(steps) + 1):
        with suppress(Killed):
            run()
            return
