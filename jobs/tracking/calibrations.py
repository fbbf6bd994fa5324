"""Seconds per operation, fitted from past runs, so that estimates come in seconds.

found = prices(store, "sensors")      # Prices, or None before the first evaluation

A stream's own runs tell its prices. While they are few, they cannot tell what a run, a batch and a tree take by
themselves from what events take; the runs of other streams can.
"""

from __future__ import annotations

from collections.abc import Sequence

from jobs.tracking.past import Past, past_elsewhere, past_runs
from jobs.tracking.store import Store
from optimizer.plan.prices import Prices, fit_prices

ENOUGH = 8  # runs of a stream: about as many as there are prices


def prices(store: Store, stream: str) -> Prices | None:
    """What operations have taken so far."""
    return prices_of(telling(store, stream, past_runs(store, stream)))


def telling(store: Store, stream: str, own: Sequence[Past]) -> list[Past]:
    """The runs that tell a stream's prices: its own, and while those are few, the newest of others."""
    return [*own] if len(own) >= ENOUGH else [*own, *past_elsewhere(store, stream, ENOUGH)]


def prices_of(past: Sequence[Past]) -> Prices | None:
    """What operations took in some runs."""
    return fit_prices([run.measured for run in past]) if past else None


def metrics_of(found: Prices) -> dict[str, float]:
    """Prices as a run's metrics."""
    return {"calibration.error": found.error, **{f"calibration.{name}": value for name, value in found.each.items()}}
