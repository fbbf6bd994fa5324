"""Weave Share's workload: slides from the factors of S_max, so that trees have edges in common."""

from __future__ import annotations

import numpy as np

from optimizer.workloads.draws import draw_ranges, draw_slides, factors_of, require, require_zipf
from optimizer.workloads.workload import Workload


def factors(
    queries: int,
    seed: int = 0,
    s_max: int = 1000,
    o_max: int = 100,
    rate: float = 1000.0,
    z_skew: float = 0.0,
    residues: bool = False,
) -> Workload:
    """(Q_num, S_max, O_max, lambda, Z_skew): slides are factors of S_max, the larger the likelier by Zipf's law."""
    require("s_max", s_max, 1, 10**9)
    require_zipf(o_max, rate, z_skew)
    rng = np.random.default_rng(seed)
    slides = draw_slides(factors_of(s_max)[::-1], queries, z_skew, rng)
    return Workload(draw_ranges(slides, o_max, residues, rng), slides, rate=rate)
