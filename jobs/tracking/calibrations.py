"""Seconds per operation, fitted from a stream's past runs, so that estimates come in seconds.

found = prices(store, "sensors")      # Prices, or None before the first evaluation
"""

from __future__ import annotations

from collections.abc import Sequence

from jobs.tracking.past import Past, past_runs
from jobs.tracking.store import Store
from optimizer.cost.prices import Prices, fit_prices


def prices(store: Store, stream: str) -> Prices | None:
    """What operations have taken on this stream so far."""
    return prices_of(past_runs(store, stream))


def prices_of(past: Sequence[Past]) -> Prices | None:
    """What operations took in some runs."""
    return fit_prices([run.measured for run in past]) if past else None


def metrics_of(found: Prices) -> dict[str, float]:
    """Prices as a run's metrics."""
    return {"calibration.error": found.error, **{f"calibration.{name}": value for name, value in found.each.items()}}
