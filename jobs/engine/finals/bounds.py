"""Which windows end, key by key: clocks that count rows stand at another number for every key."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jobs.kernels.arrays import Ints


class Bounds(NamedTuple):
    """The windows of group g that end in (after[g], until[g]]."""

    after: Ints
    until: Ints

    def inside(self, group: Ints, end: Ints) -> Ints:
        """Which of these windows do."""
        return np.flatnonzero((end > self.after[group]) & (end <= self.until[group]))

    @property
    def span(self) -> tuple[int, int]:
        """The windows of all groups end within this."""
        return int(self.after.min(initial=0)), int(self.until.max(initial=0))
