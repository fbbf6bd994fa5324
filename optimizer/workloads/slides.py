"""Workloads that draw slides: factors of S_max or any slide by Zipf's law, and the multiples of a seed window.

Factors (the multi-query paper of TKDE) give trees edges in common, any slide (Weave Share) hardly a common factor; the
two workloads of Factor Windows take multiples, random ones or one after the other.
"""

from __future__ import annotations

import numpy as np

from optimizer.errors import HeddleError
from optimizer.workloads.draws import draw_ranges, draw_slides, factors_of, require, require_zipf
from optimizer.workloads.workload import Ticks, Workload


def factors(
    queries: int,
    seed: int = 0,
    s_max: int = 1000,
    o_max: int = 10_000,
    rate: float = 1.0,
    z_skew: float = 0.0,
    residues: bool = False,
) -> Workload:
    """(Q_num, S_max, O_max, lambda, Z_skew): slides are factors of S_max by Zipf's law, a skew above 0 for large ones.

    The defaults are the middle point of the paper's Table 4.
    """
    require("s_max", s_max, 1, 10**9)
    require_zipf(o_max, rate, z_skew)
    rng = np.random.default_rng(seed)
    slides = draw_slides(factors_of(s_max)[::-1], queries, z_skew, rng)
    return Workload(draw_ranges(slides, o_max, residues, rng), slides, rate=rate)


def zipf_slides(
    queries: int,
    seed: int = 0,
    s_max: int = 100_000,
    o_max: int = 50,
    rate: float = 50.0,
    z_skew: float = 0.6,
    residues: bool = False,
) -> Workload:
    """Slides 1 to S_max by Zipf's law, the largest the most popular; overlap factors 1 to Omega_max.

    The defaults are those of the paper's Figure 4.
    """
    require("s_max", s_max, 1, 10**6)
    require_zipf(o_max, rate, z_skew)
    rng = np.random.default_rng(seed)
    slides = draw_slides(np.arange(s_max, 0, -1), queries, z_skew, rng)
    return Workload(draw_ranges(slides, o_max, residues, rng), slides, rate=rate)


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
