"""SequentialGen of Factor Windows: the multiples 2, 3, 4, ... of one random seed."""

from __future__ import annotations

import numpy as np

from optimizer.workloads.random_gen import SEED_RANGES, SEED_SLIDES
from optimizer.workloads.workload import Workload


def sequential_gen(queries: int, seed: int = 0, hopping: bool = False) -> Workload:
    """Tumbling windows 2r_0, 3r_0, ..., or hopping ones with slides 2s_0, 3s_0, ... and ranges twice as long."""
    first = np.random.default_rng(seed).choice(SEED_SLIDES if hopping else SEED_RANGES)
    slides = first * np.arange(2, queries + 2)
    return Workload(slides * (2 if hopping else 1), slides)
