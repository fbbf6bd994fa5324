"""When a plan that queries join and leave should be woven anew.

Builds are points (number of queries, cost); the performance slope through the last two predicts what a build would
cost now, and the plan has drifted when it costs more than that by a tolerance. Costs rise ever more slowly with more
queries, so the slope is too kind after many changes: then a build is due as well.
"""

from __future__ import annotations


class Drift:
    """The performance slope of a running plan."""

    def __init__(self, tolerance: float = 0.05, patience: float = 0.25) -> None:
        self.tolerance, self.patience = tolerance, patience
        self._builds = [(0, 0.0)]
        self._changes = 0

    def changed(self) -> None:
        """A query joined or left."""
        self._changes += 1

    def built(self, queries: int, cost: float) -> None:
        """Remember a build."""
        self._builds = [*self._builds[-1:], (queries, cost)]
        self._changes = 0

    def predicted(self, queries: int) -> float:
        """What a build would cost for so many queries, along the slope of the last two."""
        (before, cheap), (last, cost) = self._builds[0], self._builds[-1]
        slope = (cost - cheap) / (last - before) if last != before else cost / max(last, 1)
        return max(0.0, cost + slope * (queries - last))

    def deviation(self, queries: int, cost: float) -> float:
        """How much dearer than predicted the plan is, as a share of the prediction."""
        predicted = self.predicted(queries)
        return cost / predicted - 1 if predicted > 0 else 0.0

    def due(self, queries: int, cost: float) -> bool:
        """Whether it is time to weave anew: too dear for the slope, or too many changes to trust it."""
        return self.deviation(queries, cost) > self.tolerance or self._changes > self.patience * self._builds[-1][0] + 1
