"""Workload B of on-the-fly sharing: different predicates, the same window (shared data fragments)."""

from __future__ import annotations

import numpy as np

from optimizer.workloads.draws import require
from optimizer.workloads.market import market, wide_predicates
from optimizer.workloads.workload import Workload


def trades_b(queries: int, seed: int = 0, s_max: int = 60, o_max: int = 10) -> Workload:
    """Every query its own predicate, all over the window (O_max * S_max, S_max)."""
    require("queries", queries, 1, 10_000)
    require("s_max", s_max, 1, 10**6)
    require("o_max", o_max, 1, 10**6)
    shapes = tuple(map(market, wide_predicates(queries, np.random.default_rng(seed))))
    slides = np.full(queries, s_max)
    return Workload(slides * o_max, slides, shapes, np.arange(queries))
