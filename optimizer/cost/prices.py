"""Seconds per operation of every technique, fitted from runs: a combine costs each of them something else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.cost.calibration import Floats
from optimizer.errors import HeddleError
from optimizer.plan_operations import Operations

PULL = 1e-3  # towards one price for all operations, where the runs cannot tell prices apart
ROUNDS = 200


@dataclass(frozen=True)
class Measured:
    """What a plan had to do in a run by its cost model, and how long that took."""

    operations: Operations
    seconds: float
    batches: float = 1.0


@dataclass(frozen=True)
class Prices:
    """Seconds per partial operation, per final operation by technique, and per batch; none is negative."""

    partial_seconds: float
    final_seconds: Mapping[str, float]
    batch_seconds: float
    error: float  # mean of the relative errors over the runs it was fitted from

    def knows(self, operations: Operations) -> bool:
        """Whether there is a price for all of them."""
        return operations.finals.keys() <= self.final_seconds.keys()

    def seconds(self, operations: Operations, batches: float = 1.0) -> float:
        """How long so many operations should take."""
        finals = sum(self.final_seconds[name] * count for name, count in operations.finals.items())
        return self.partial_seconds * operations.partials + finals + self.batch_seconds * batches


def fit_prices(runs: Sequence[Measured], fixed_cost: bool = True) -> Prices:
    """Least squares of the relative errors with no price below 0."""
    if not runs:
        raise HeddleError("there are no runs to calibrate from; evaluate a plan first")
    names = sorted({name for run in runs for name in run.operations.finals})
    table = np.array([_row(run, names, fixed_cost) for run in runs])
    one_price = 1.0 / float(np.median([run.operations.total / run.seconds for run in runs]))
    guess = np.array([one_price] * (1 + len(names)) + [0.0])
    scale = np.maximum(np.abs(table).max(axis=0), 1e-300)
    pull = np.diag(np.where(guess > 0, PULL / np.maximum(guess, 1e-300), PULL * scale))
    design, wanted = np.vstack([table, pull]), np.concatenate([np.ones(len(runs)), pull @ guess])
    found = _nonnegative(design / scale, wanted) / scale
    error = float(np.mean(np.abs(table @ found - 1)))
    finals = dict(zip(names, map(float, found[1:-1]), strict=True))
    return Prices(float(found[0]), finals, float(found[-1]), error)


def _row(run: Measured, names: Sequence[str], fixed_cost: bool) -> list[float]:
    if not run.seconds > 0 or not run.operations.total > 0:
        raise HeddleError(f"a run of {run.seconds} seconds and {run.operations.total:g} operations tells no prices")
    finals = [run.operations.finals.get(name, 0.0) for name in names]
    return [count / run.seconds for count in (run.operations.partials, *finals, run.batches * fixed_cost)]


def _nonnegative(design: Floats, wanted: Floats) -> Floats:
    """Least squares over x >= 0 by active sets (Lawson and Hanson, 1974, chapter 23)."""
    size = design.shape[1]
    x, free = np.zeros(size), np.zeros(size, dtype=np.bool_)
    for _ in range(ROUNDS):
        slope = design.T @ (wanted - design @ x)
        if free.all() or slope[~free].max() <= 1e-12 * np.abs(wanted).sum():
            break
        free[np.argmax(np.where(free, -np.inf, slope))] = True
        x = _inside(design, wanted, x, free)
    return x


def _inside(design: Floats, wanted: Floats, x: Floats, free: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats:
    """The best point of the free coordinates, less those that would leave the positive side on the way there."""
    while free.any():
        best = np.zeros_like(x)
        best[free] = np.linalg.lstsq(design[:, free], wanted, rcond=None)[0]
        if (best[free] > 0).all():
            return best
        falling = free & (best <= 0)
        step = np.min(x[falling] / (x[falling] - best[falling]))
        x = x + step * (best - x)
        free &= x > 1e-15
    return x
