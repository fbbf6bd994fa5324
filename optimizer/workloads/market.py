"""What the four trades workloads have in common: trades joined with Close and Index, and predicates over them."""

from __future__ import annotations

import numpy as np

from optimizer.workloads.workload import Shape

SELECT = "sum(price * volume)"
INDEXES = ("BLUE", "TECH", "SMALL")
LOTS = (100, 200, 300, 500, 1000)  # the volumes that make up most trades
LARGEST_VOLUME = 10_000


def market(where: str) -> Shape:
    """The turnover by symbol of the trades that pass the predicate."""
    return Shape(SELECT, where, "symbol", "market")


def wide_predicates(count: int, rng: np.random.Generator) -> list[str]:
    """Distinct predicates that most trades pass several of: rising against the close, in an index, of some volume."""
    found: dict[str, None] = {}
    while len(found) < count:
        volume = int(rng.integers(1, LARGEST_VOLUME) if len(found) >= len(LOTS) else LOTS[len(found)])
        change = 1 + round(float(rng.normal(0, 0.02)), 3)
        index = INDEXES[rng.integers(len(INDEXES))]
        kinds = (f"volume >= {volume}", f"price > {change:g} * close", f"index_name = '{index}' AND volume >= {volume}")
        found[kinds[rng.integers(len(kinds))]] = None
    return list(found)


def narrow_predicates(count: int, overlap: int, rng: np.random.Generator) -> list[str]:
    """Distinct thin bands of volume, each within one index, so that a trade passes about `overlap` of them."""
    width = max(1, round(LARGEST_VOLUME * len(INDEXES) * overlap / count))
    found: dict[str, None] = {}
    while len(found) < count:
        index, low = INDEXES[rng.integers(len(INDEXES))], int(rng.integers(1 - width, LARGEST_VOLUME))
        found[f"index_name = '{index}' AND volume >= {low} AND volume < {low + width}"] = None
    return list(found)
