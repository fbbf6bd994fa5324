"""Estimated against measured throughput, normalised as in the papers.

An estimate in operations and a measurement in events per second have no unit in common. Each series is therefore
divided by its own mean over the runs that are compared; the deviation of a run is how far its two shares are apart, as
a share of the measured one.
"""

from __future__ import annotations

from collections.abc import Sequence


def normalised(values: Sequence[float]) -> list[float]:
    """Every value as a multiple of the mean of all."""
    mean = sum(values) / len(values) if values else 0.0
    return [value / mean if mean else 0.0 for value in values]


def deviations(estimated: Sequence[float], measured: Sequence[float]) -> list[float]:
    """How far every estimate is off."""
    pairs = zip(normalised(estimated), normalised(measured), strict=True)
    return [abs(estimate - found) / found if found else 0.0 for estimate, found in pairs]


def mean(values: Sequence[float]) -> float:
    """Their mean; 0 of none."""
    return sum(values) / len(values) if values else 0.0
