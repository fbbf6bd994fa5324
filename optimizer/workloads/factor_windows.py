"""The two workloads of Factor Windows: multiples of a seed window, random ones or one after the other."""

from __future__ import annotations

import numpy as np

from optimizer.errors import HeddleError
from optimizer.workloads.draws import require
from optimizer.workloads.workload import Ticks, Workload

SEED_RANGES = (2, 5, 10)  # of tumbling windows
SEED_SLIDES = (5, 10, 20)  # of hopping windows, whose range is twice the slide


def random_gen(queries: int, seed: int = 0, hopping: bool = False, multiples: int = 50) -> Workload:
    """Tumbling windows r = k * r_0, or hopping ones s = k * s_0 and r = 2s, with k from 2 up to `multiples`."""
    require("multiples", multiples, 2, 10**6)
    seeds = np.array(SEED_SLIDES if hopping else SEED_RANGES)
    products = np.multiply.outer(seeds, np.arange(2, multiples + 1)).ravel()
    # in random order without repeats: the result of drawing a seed and a multiple until a new window comes up
    shuffled = np.random.default_rng(seed).permutation(products)
    distinct = shuffled[np.sort(np.unique(shuffled, return_index=True)[1])]
    if queries > len(distinct):
        raise HeddleError(
            f"random_gen has {len(distinct)} distinct windows, not {queries}; give fewer --queries or more --multiples"
        )
    return _windows(distinct[:queries], hopping)


def sequential_gen(queries: int, seed: int = 0, hopping: bool = False) -> Workload:
    """Tumbling windows 2r_0, 3r_0, ..., or hopping ones with slides 2s_0, 3s_0, ... and ranges twice as long."""
    first = np.random.default_rng(seed).choice(SEED_SLIDES if hopping else SEED_RANGES)
    return _windows(first * np.arange(2, queries + 2), hopping)


def _windows(slides: Ticks, hopping: bool) -> Workload:
    return Workload(slides * (2 if hopping else 1), slides)
