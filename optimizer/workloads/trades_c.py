"""Workload C of on-the-fly sharing, regular: predicates and windows differ, and much is common (shared data shards)."""

from __future__ import annotations

import numpy as np

from optimizer.workloads.draws import factors_of, ranges_for, require
from optimizer.workloads.market import market, wide_predicates
from optimizer.workloads.workload import Workload

PREDICATES = 8


def trades_c(queries: int, seed: int = 0, s_max: int = 60, o_max: int = 10) -> Workload:
    """Slides from the factors of S_max, predicates from a small pool of overlapping ones."""
    require("s_max", s_max, 1, 10**9)
    require("o_max", o_max, 1, 10**6)
    rng = np.random.default_rng(seed)
    shapes = tuple(map(market, wide_predicates(PREDICATES, rng)))
    slides = rng.choice(factors_of(s_max), queries)
    return Workload(ranges_for(slides, o_max, False, rng), slides, shapes, rng.integers(0, PREDICATES, queries))
