"""Slides by Zipf's law: factors of S_max, so that trees have edges in common, or any slide, hardly a common factor."""

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


def zipf_slides(
    queries: int,
    seed: int = 0,
    s_max: int = 100_000,
    o_max: int = 100,
    rate: float = 1000.0,
    z_skew: float = 1.0,
    residues: bool = False,
) -> Workload:
    """Slides 1 to S_max by Zipf's law, slide 1 the most popular; overlap factors 1 to Omega_max."""
    require("s_max", s_max, 1, 10**6)
    require_zipf(o_max, rate, z_skew)
    rng = np.random.default_rng(seed)
    slides = draw_slides(np.arange(1, s_max + 1), queries, z_skew, rng)
    return Workload(draw_ranges(slides, o_max, residues, rng), slides, rate=rate)
