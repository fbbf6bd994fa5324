"""The large workload of the multi-query papers: any slide up to 100,000, hardly a common factor."""

from __future__ import annotations

import numpy as np

from optimizer.workloads.draws import draw_ranges, draw_slides, require, require_zipf
from optimizer.workloads.workload import Workload


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
