"""Workload A of on-the-fly sharing: the same predicate, different windows (shared time slices)."""

from __future__ import annotations

import numpy as np

from optimizer.workloads.draws import ranges_for, require
from optimizer.workloads.market import market
from optimizer.workloads.workload import Workload


def trades_a(queries: int, seed: int = 0, s_max: int = 60, o_max: int = 10) -> Workload:
    """Any slide up to S_max and any range up to O_max times as long; all trades above yesterday's close."""
    require("s_max", s_max, 1, 10**6)
    require("o_max", o_max, 1, 10**6)
    rng = np.random.default_rng(seed)
    slides = rng.integers(1, s_max, queries, endpoint=True)
    return Workload(ranges_for(slides, o_max, True, rng), slides, (market("price > close"),))
