"""How a caller follows a search, and stops it: a stopped search hands back the best it has."""

from __future__ import annotations

from collections.abc import Callable


def _ignore(share: float) -> None:
    pass


class Watch:
    """Told how much of the work is done; asked whether to go on."""

    def __init__(self, progress: Callable[[float], None] = _ignore) -> None:
        self._progress = progress
        self.stopped = False

    def report(self, share: float) -> None:
        """Say which share of the work is done, 0 to 1."""
        self._progress(share)

    def stop(self) -> None:
        """Ask the search to end with what it has."""
        self.stopped = True
