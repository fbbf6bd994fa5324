"""CPU seconds per step of a batch, measured where the work is done: a busy machine does not change them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass
class Stopwatch:
    """Counts CPU seconds by step: a lap gives the time since the last one to its step."""

    seconds: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.process_time)

    def lap(self, step: str) -> None:
        """Count everything since the last lap as spent on this step."""
        now = time.process_time()
        self.seconds[step] = self.seconds.get(step, 0.0) + now - self._last
        self._last = now


def add_up(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Add up counts or seconds of many tasks by name.

    >>> add_up([{"read": 1, "feed": 2}, {"read": 3}])
    {'read': 4, 'feed': 2}
    """
    total: dict[str, float] = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = total.get(name, 0) + amount
    return total
