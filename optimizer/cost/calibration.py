"""Seconds per operation, fitted from runs, so that a plan's cost also comes in seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from optimizer.errors import HeddleError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Run:
    """What a plan had to do in one run by its cost model, and how long the run took."""

    partials: float  # operations that feed trees: events or partials folded, once per component
    finals: float  # edge rate times Omega, times keys and ticks
    seconds: float
    batches: float = 1.0


@dataclass(frozen=True)
class Calibration:
    """Seconds per partial operation, per final operation and per batch; none is negative."""

    partial_seconds: float
    final_seconds: float
    batch_seconds: float
    deviation: float  # root mean square of the relative error over the runs it was fitted from

    def seconds(self, partials: float, finals: float, batches: float = 1.0) -> float:
        """How long so many operations should take."""
        return self.partial_seconds * partials + self.final_seconds * finals + self.batch_seconds * batches


def fit(runs: Sequence[Run], fixed_cost: bool = True) -> Calibration:
    """Least squares of the relative errors with no coefficient below 0; `fixed_cost` allows for one per batch.

    What the runs cannot tell apart is not guessed: one run, or runs that are all alike, give one price for all
    operations.
    """
    _check(runs)
    seconds = np.array([run.seconds for run in runs])
    columns = np.array([(run.partials, run.finals, run.batches) for run in runs]) / seconds[:, None]
    together = np.array([[1.0, 1.0, 0.0]])
    best, least = _solve(columns, together)
    singles = np.eye(3)[: 3 if fixed_cost else 2]
    for size in range(1, len(singles) + 1):
        for chosen in combinations(singles, size):
            found, error = _solve(columns, np.array(chosen))
            if error < least - 1e-9:
                best, least = found, error
    return Calibration(float(best[0]), float(best[1]), float(best[2]), least)


def _solve(columns: Floats, basis: Floats) -> tuple[Floats, float]:
    """Coefficients within the span of the basis that bring every relative prediction nearest to 1, and their error."""
    design = columns @ basis.T
    scale = np.abs(design).max(axis=0)
    if not scale.all():
        return np.zeros(3), np.inf
    shares, _, rank, _ = np.linalg.lstsq(design / scale, np.ones(len(design)), rcond=1e-10)
    coefficients: Floats = (shares / scale) @ basis
    if rank < len(basis) or (coefficients < 0).any():
        return coefficients, np.inf
    return coefficients, float(np.sqrt(np.mean((columns @ coefficients - 1) ** 2)))


def _check(runs: Sequence[Run]) -> None:
    if not runs:
        raise HeddleError("there are no runs to calibrate from; evaluate a plan first")
    for run in runs:
        figures = (run.partials, run.finals, run.batches)
        if not (isfinite(run.seconds) and run.seconds > 0):
            raise HeddleError(f"a run of {run.seconds} seconds cannot be calibrated from; leave it out")
        if not all(isfinite(figure) and figure >= 0 for figure in figures) or not run.partials + run.finals > 0:
            raise HeddleError(f"{run} counts no operations; leave it out")
