"""The on-the-fly slice manager: which edge comes next, while queries join and leave (SIGMOD 2006)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush, heapreplace

from optimizer.errors import HeddleError
from optimizer.windows.edges import Progression, progressions
from optimizer.windows.window import Window


@dataclass
class SliceManager:
    """The next edge of all windows, from a priority queue with one entry per progression."""

    now: int = 0
    slicing: str = "pairs"
    windows: Counter[Window] = field(default_factory=Counter)
    _users: Counter[Progression] = field(default_factory=Counter)
    _queue: list[tuple[int, Progression]] = field(default_factory=list)

    def join(self, window: Window) -> None:
        """Add a window: its edges count from the first one after `now`.

        >>> manager = SliceManager()
        >>> manager.join(Window(8, 4))
        >>> manager.peek()
        4
        """
        edges = progressions(window, self.slicing)
        self.windows[window] += 1
        for progression in edges:
            # one without users may still be queued: it is dropped only when its tick is met
            if progression not in self._users:
                heappush(self._queue, (_first_after(self.now, progression), progression))
            self._users[progression] += 1

    def leave(self, window: Window) -> None:
        """Remove a window that has joined.

        >>> manager = SliceManager()
        >>> for window in (Window(8, 4), Window(9, 3)):
        ...     manager.join(window)
        >>> manager.leave(Window(9, 3))
        >>> manager.peek()
        4
        """
        if not self.windows[window]:
            raise HeddleError(f"{window} has not joined; only a window that has joined can leave")
        self.windows[window] -= 1
        self._users.subtract(progressions(window, self.slicing))

    def peek(self) -> int | None:
        """Return the next edge; None when no window is left.

        >>> manager = SliceManager()
        >>> manager.peek()
        >>> manager.join(Window(8, 4))
        >>> manager.peek(), manager.now
        (4, 0)
        """
        while self._queue and not self._users[self._queue[0][1]]:
            del self._users[heappop(self._queue)[1]]
        return self._queue[0][0] if self._queue else None

    def next_edge(self) -> int | None:
        """Move on to the next edge.

        >>> manager = SliceManager()
        >>> manager.join(Window(10, 4))  # ends 2 after it starts, modulo its slide
        >>> manager.next_edge(), manager.next_edge(), manager.now
        (2, 4, 4)
        """
        edge = self.peek()
        if edge is not None:
            self.now = edge
            while self._queue[0][0] == edge:
                progression = self._queue[0][1]
                heapreplace(self._queue, (edge + progression[0], progression))
        return edge

    def slices(self, until: int) -> Iterator[tuple[int, int]]:
        """Yield the slices [start, end) that close no later than `until`.

        >>> manager = SliceManager()
        >>> manager.join(Window(10, 4))
        >>> list(manager.slices(until=7))
        [(0, 2), (2, 4), (4, 6)]
        """
        while (end := self.peek()) is not None and end <= until:
            start = self.now
            self.next_edge()
            yield start, end


def _first_after(tick: int, progression: Progression) -> int:
    size, residue = progression
    return tick + 1 + (residue - tick - 1) % size
