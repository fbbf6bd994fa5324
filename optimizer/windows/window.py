"""A sliding window: range, slide and offset in ticks (microseconds, or rows of a key)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BEGINNING: Final = -(1 << 62)  # before every event: the watermark of a stream that has not started


@dataclass(frozen=True, order=True, slots=True)
class Window:
    """The windows [k*slide + offset, k*slide + offset + range) for every integer k, as Spark's `window` aligns them."""

    range: int
    slide: int
    offset: int = 0
    rows: bool = False

    @property
    def fragment(self) -> int:
        """Where a pair is cut: the distance from a window's start edge to the end edge that follows it.

        >>> Window(10, 4).fragment, Window(8, 4).fragment
        (2, 0)
        """
        return self.range % self.slide

    @property
    def overlap_factor(self) -> float:
        """How many windows hold one event on average; what Spark multiplies every event by.

        >>> Window(10, 4).overlap_factor
        2.5
        """
        return self.range / self.slide
