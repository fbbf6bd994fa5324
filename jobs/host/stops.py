"""How a process ends early: a signal ends a run after the batch in hand, a test kills it at any step.

The signals are Ctrl-C and SIGTERM; a second Ctrl-C ends a run at once.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

DRIVER_STEPS = ("listed", "collected", "drafted", "committed")
TASK_STEPS = ("read", "feed", "parcels", "merged", "finals", "results", "state")
ADOPTION_STEPS = ("adopted", "taken over")  # when a new plan takes over: in the tasks, and after its manifest
LANDING_STEPS = ("landed", "drafted", "landing committed", "landing expired")  # of a topic's messages
DELIVERY_STEPS = ("entered", "sink written", "sink committed", "delivered", "alerts raised")  # after publication
KILL_AT = "HEDDLE_KILL_AT"  # a folder; a file named as a step holds the process to kill when it is reached, or nothing


def step(name: str) -> None:
    """Mark that a step is done."""
    folder = os.environ.get(KILL_AT)
    if not folder:
        return
    order = Path(folder) / name
    try:
        victim = order.read_text()
        order.unlink()
    except FileNotFoundError:
        return
    os.kill(int(victim or os.getpid()), signal.SIGKILL)


SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_on_signal() -> Iterator[threading.Event]:
    """Yield an event that is set when the run should end."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def handle(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = {number: signal.signal(number, handle) for number in SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
