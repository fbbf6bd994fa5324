"""The batches that a stream comes in, in seconds of the stream: what each brings, and which windows end with it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

MOST_BATCHES = 512  # of a run that are told apart
MOST_STEPS = 24  # batches that are looked at one by one; those between them are like their neighbours
STEADY_STEPS = 4  # batches of an endless stream that are looked at


@dataclass(frozen=True)
class Step:
    """A batch: its clock, and what it brings."""

    after: float  # windows that end up to it are out already
    until: float  # windows that end up to it end now
    high: float  # the end of its events
    added: float  # seconds of its events
    weight: float = 1.0  # batches that it stands for

    @property
    def answers(self) -> bool:
        """Whether any window ends."""
        return self.until > self.after

    @property
    def ends(self) -> float:
        """The seconds in which windows end."""
        return self.until - self.after


@dataclass(frozen=True)
class Schedule:
    """How a stream comes in: in one run of some batches, or endlessly in runs of one batch each."""

    batch: float  # seconds
    batches: float = 1.0  # of one run; infinitely many for an endless stream, whose every run is one batch

    def steps(self, reach: float) -> list[Step]:
        """Return the batches of a run; of an endless stream some that come after its slices were kept for `reach`.

        A run of several batches answers each with the next one, and the last with a closing.

        >>> [(step.after, step.until, step.high, step.added) for step in Schedule(10, 3).steps(5)]
        [(0, 0, 10, 10), (0, 10, 20, 10), (10, 20, 30, 10), (20, 30, 30, 0)]
        >>> [(step.after, step.until, step.weight) for step in Schedule(10, 50).steps(5)][:4]
        [(0, 0, 1.0), (0, 10, 1.0), (10, 20, 3.0), (40, 50, 3.0)]
        """
        steps = list(self._steps(reach))
        if not math.isfinite(self.batches):
            return steps[-STEADY_STEPS:]
        if len(steps) <= MOST_STEPS:
            return steps
        middle = steps[2:-1]  # the first answers nothing, the second begins, the last brings nothing
        every = math.ceil(len(middle) / (MOST_STEPS - 3))
        some = middle[::every]
        alike = len(middle) / len(some)
        return [*steps[:2], *(Step(s.after, s.until, s.high, s.added, alike) for s in some), steps[-1]]

    def merges(self, files: int, reach: float) -> float:
        """Return how often a row is written again, if every so many files, one of each batch, make one of the next tier
        and are dropped `reach` seconds after the watermark, which is behind by a batch, has passed them.

        >>> Schedule(10, 20).merges(16, math.inf), Schedule(10, math.inf).merges(16, math.inf)  # 16 of 20; two tiers
        (0.8, 2.0)
        """
        total, span = 0.0, files
        while span <= min(self.batches, MOST_BATCHES) and (span - 2) * self.batch <= reach:
            total += math.floor(self.batches / span) * span / self.batches if math.isfinite(self.batches) else 1.0
            span *= files
        return total

    def _steps(self, reach: float) -> Iterator[Step]:
        length, count = self.batch, min(self.batches, MOST_BATCHES)
        if self.batches == 1:
            yield Step(0, length, length, length)
        elif math.isfinite(self.batches):
            for number in range(round(count)):
                yield Step(max(0, number - 1) * length, number * length, (number + 1) * length, length)
            yield Step((count - 1) * length, count * length, count * length, 0)
        else:
            for number in range(min(MOST_BATCHES, math.ceil(reach / length)) + STEADY_STEPS):
                yield Step(number * length, (number + 1) * length, (number + 1) * length, length)


STEADY = Schedule(300.0, math.inf)  # as the DAG's schedule has it
