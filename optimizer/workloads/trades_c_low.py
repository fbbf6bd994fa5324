"""Workload C of on-the-fly sharing, low-sharing: predicates and windows differ, and hardly anything is common."""

from __future__ import annotations

import numpy as np

from optimizer.workloads.draws import ranges_for, require
from optimizer.workloads.market import market, narrow_predicates
from optimizer.workloads.workload import Workload


def trades_c_low(queries: int, seed: int = 0, s_max: int = 60, o_max: int = 10, overlap: int = 4) -> Workload:
    """Any slide up to S_max with a residue; every query its own thin band of volume, `overlap` of them over a trade."""
    require("queries", queries, 1, 10_000)
    require("s_max", s_max, 1, 10**6)
    require("o_max", o_max, 1, 10**6)
    require("overlap", overlap, 1, 10_000)
    rng = np.random.default_rng(seed)
    shapes = tuple(map(market, narrow_predicates(queries, overlap, rng)))
    slides = rng.integers(1, s_max, queries, endpoint=True)
    return Workload(ranges_for(slides, o_max, True, rng), slides, shapes, np.arange(queries))
