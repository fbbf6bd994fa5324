"""Weave Share's workload: slides from the factors of S_max, so that trees have edges in common."""

from __future__ import annotations

import numpy as np

from optimizer.workloads.draws import factors_of, ranges_for, require, zipf_weights
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
    require("o_max", o_max, 1, 10**6)
    require("rate", rate, 0.001, 10**9)
    require("z_skew", z_skew, 0, 5)
    rng = np.random.default_rng(seed)
    largest_first = factors_of(s_max)[::-1]
    slides = rng.choice(largest_first, queries, p=zipf_weights(len(largest_first), z_skew))
    return Workload(ranges_for(slides, o_max, residues, rng), slides, rate=rate)
