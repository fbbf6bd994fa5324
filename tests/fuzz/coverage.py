"""Which features the cases had, and which pairs of them have met in one case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations


class Coverage:
    """Counts features and pairs of features.

    >>> coverage = Coverage()
    >>> coverage.add(["where", "offset"])
    >>> coverage.add(["where", "filter"])
    >>> coverage.summary()
    '2 cases, 3 features, 2 of 3 pairs have met'
    """

    def __init__(self) -> None:
        self.cases = 0
        self.features: Counter[str] = Counter()
        self.pairs: Counter[tuple[str, str]] = Counter()

    def add(self, features: Iterable[str]) -> None:
        """Count the features of one case."""
        ordered = sorted(set(features))
        self.cases += 1
        self.features.update(ordered)
        self.pairs.update(combinations(ordered, 2))

    @property
    def missing(self) -> list[tuple[str, str]]:
        """The pairs of known features that have not met."""
        return [pair for pair in combinations(sorted(self.features), 2) if pair not in self.pairs]

    def summary(self) -> str:
        """Say in a line how much has been tried."""
        possible = len(self.features) * (len(self.features) - 1) // 2
        return f"{self.cases} cases, {len(self.features)} features, {len(self.pairs)} of {possible} pairs have met"
