"""The batches that a stream comes in: what each of them loads, merges, answers and saves, in seconds of the stream.

A slice belongs to a second of the stream, so that a count in seconds, times the slices per second, is one in slices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_STEPS = 512  # batches that are looked at one by one
STEADY_STEPS = 4  # batches of an endless stream that are looked at


@dataclass(frozen=True)
class Step:
    """A batch as a tree sees it, in seconds of the stream."""

    after: float  # windows that end up to it are out already
    until: float  # windows that end up to it end now
    low: float  # the first slice that any window may hold
    high: float  # the end of the last slice that is read
    loaded: float
    saved: float
    added: float

    @property
    def answers(self) -> bool:
        """Whether any window ends."""
        return self.until > self.after

    @property
    def ends(self) -> float:
        """The seconds in which windows end, since the first slice."""
        return self.until - max(self.after, self.low)

    @property
    def span(self) -> float:
        """The seconds that have slices."""
        return self.high - self.low

    def scanned(self, seconds: float) -> float:
        """Return the seconds whose slices the windows of this length hold."""
        return self.until - max(self.low, self.after - seconds)


@dataclass(frozen=True)
class Schedule:
    """How a stream comes in: in one run of some batches, or endlessly in runs of one batch each."""

    batch: float  # seconds
    batches: float = 1.0  # of one run; infinitely many for an endless stream, whose every run is one batch

    def steps(self, reaches: Sequence[float]) -> list[list[Step]]:
        """Return the batches as trees see them that retain their slices for some seconds.

        A run of several batches answers each with the next one, and the last with a closing. A batch loads the slices
        of the windows that end with it, and saves its own. (Chunks, by which it loads less, are not counted here.)

        >>> [[(step.low, step.high, step.until, step.loaded) for step in steps] for steps in Schedule(10, 3).steps([5])]
        [[(0, 0, 0, 0.0), (0, 10, 10, 10.0), (5, 20, 20, 15.0), (15, 30, 30, 15.0)]]
        """
        made: list[list[Step]] = [[] for _ in reaches]
        for after, until, high, added in self._clock(max(reaches)):
            for reach, steps in zip(reaches, made, strict=True):
                low, end = max(0, after - reach), min(until, high)
                loaded = max(0.0, float(min(end, high - added) - low)) if until > after else 0.0
                saved = high - max(high - added, until - reach) if added else 0.0
                steps.append(Step(after, until, low, end, loaded, max(0.0, float(saved)), added))
        return made if math.isfinite(self.batches) else [steps[-STEADY_STEPS:] for steps in made]

    def _clock(self, reach: float) -> Iterator[tuple[float, float, float, float]]:
        """Yield of every batch (after, until, end of its events, seconds of its events)."""
        length, count = self.batch, min(self.batches, MOST_STEPS)
        if self.batches == 1:
            yield 0, length, length, length
        elif math.isfinite(self.batches):
            for number in range(round(count)):
                yield max(0, number - 1) * length, number * length, (number + 1) * length, length
            yield (count - 1) * length, count * length, count * length, 0
        else:
            for number in range(min(MOST_STEPS, math.ceil(reach / length)) + STEADY_STEPS):
                yield number * length, (number + 1) * length, (number + 1) * length, length


STEADY = Schedule(300.0, math.inf)  # as the DAG's schedule has it
