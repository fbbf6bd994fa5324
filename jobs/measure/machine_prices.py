"""The prices of this machine: what `heddle calibrate` measured, kept beside the compiled kernels."""

from __future__ import annotations

import json
import os
from pathlib import Path

from jobs.host.cache import cache_folder
from jobs.host.machine import machine_facts, machine_fingerprint
from optimizer.errors import HeddleError
from optimizer.plan.prices import Prices

FORMAT = 10  # another where counts get other names or meanings, or the engine becomes faster
FOLDER = "HEDDLE_PRICES"
COSTS = ("seconds", "operations")


def prices_file() -> Path:
    """Return where this machine's prices are kept, below HEDDLE_PRICES or beside the compiled kernels.

    Another machine or another version has a file of its own.
    """
    folder = os.environ.get(FOLDER)
    return (Path(folder) if folder else cache_folder() / "prices") / f"{machine_fingerprint()}.json"


def save_prices(prices: Prices) -> Path:
    """Write the machine's prices, and what machine it is."""
    path = prices_file()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    document = {"format": FORMAT, "machine": machine_facts(), "error": prices.error, "prices": dict(prices.each)}
    waiting = path.with_suffix(".tmp")
    waiting.write_text(json.dumps(document, indent=1))
    waiting.replace(path)
    return path


def load_prices() -> Prices | None:
    """Return the prices of this machine; None before it is calibrated, and where the file says nothing."""
    try:
        document = json.loads(prices_file().read_text())
        if document["format"] != FORMAT:
            return None
        return Prices({name: float(price) for name, price in document["prices"].items()}, float(document["error"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def prices_for(cost: str) -> Prices | None:
    """Return the prices to plan by: the machine's for seconds, none for the papers' operations.

    >>> prices_for("operations") is None
    True
    """
    if cost not in COSTS:
        raise HeddleError(f"--cost {cost!r} is no currency; use one of {', '.join(COSTS)}")
    return load_prices() if cost == "seconds" else None
