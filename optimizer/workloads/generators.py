"""The generators of the workloads, one function each.

Factors of S_max (the multi-query paper of TKDE) give trees edges in common, any slide by Zipf's law (Weave Share)
hardly a common factor; the two workloads of Factor Windows take multiples of a seed window, random ones or one after
the other.

The four workloads of on-the-fly sharing (section 6.1) are turnover of trades joined with Close and Index: A shares
time slices (no predicate, many windows), B shares data fragments (many predicates, one window), and C shares data
shards (predicates and windows differ), once with much in common and once with nothing twice.
"""

from __future__ import annotations

import math

import numpy as np

from optimizer.errors import HeddleError
from optimizer.workloads.workload import (
    Shape,
    Ticks,
    Workload,
    draw_ranges,
    draw_slides,
    factors_of,
    require,
    require_zipf,
)

SELECT = "sum(price * volume)"
RANGES, SLIDES = (600, 900), (300, 600)  # seconds, both ends included: Table 8
TUMBLING = 600  # seconds: the window of workload B
INDEXES = ("r3000", "r2000", "r1000")
MOST_QUERIES = 10_000  # where every query has a predicate or a window of its own


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


def trades_a(queries: int, seed: int = 0) -> Workload:
    """Any range from 600 to 900 s and any slide from 300 to 600 s, over all trades."""
    rng = np.random.default_rng(seed)
    ranges, slides = (rng.integers(*bounds, queries, endpoint=True) for bounds in (RANGES, SLIDES))
    return Workload(ranges, slides, (turnover(),))


def trades_b(queries: int, seed: int = 0) -> Workload:
    """A predicate of its own for every query (in an index or not, and a value above or below), tumbling by 600 s."""
    require("queries", queries, 1, MOST_QUERIES)
    shapes = tuple(map(turnover, distinct_predicates(queries, np.random.default_rng(seed))))
    return Workload(np.full(queries, TUMBLING), np.full(queries, TUMBLING), shapes, np.arange(queries))


def trades_c(queries: int, seed: int = 0) -> Workload:
    """Return the windows of A with the predicates of B, sqrt(n) of each, no combination twice."""
    require("queries", queries, 1, MOST_QUERIES)
    rng = np.random.default_rng(seed)
    side = math.isqrt(queries - 1) + 1
    shapes = tuple(map(turnover, distinct_predicates(side, rng)))
    ranges, slides = distinct_windows(side, rng)
    window, shape = np.divmod(rng.permutation(side * side)[:queries], side)
    return Workload(ranges[window], slides[window], shapes, shape)


def trades_c_low(queries: int, seed: int = 0) -> Workload:
    """Return the windows of A with the predicates of B, no window and no predicate twice."""
    require("queries", queries, 1, MOST_QUERIES)
    rng = np.random.default_rng(seed)
    shapes = tuple(map(turnover, distinct_predicates(queries, rng)))
    return Workload(*distinct_windows(queries, rng), shapes, np.arange(queries))


def turnover(where: str = "") -> Shape:
    """Return the query shape that sums the turnover of the trades that pass the predicate.

    >>> turnover("volume > 100")
    Shape(select='sum(price * volume)', where='volume > 100', group_by='', stream='market')
    """
    return Shape(SELECT, where, "", "market")


def distinct_windows(count: int, rng: np.random.Generator) -> tuple[Ticks, Ticks]:
    """Draw `count` distinct windows of workload A: their ranges and their slides.

    >>> ranges, slides = distinct_windows(1000, np.random.default_rng(0))
    >>> len(set(zip(ranges.tolist(), slides.tolist()))), int(ranges.min()) >= 600, int(slides.max()) <= 600
    (1000, True, True)
    """
    width = SLIDES[1] - SLIDES[0] + 1
    numbers = rng.choice((RANGES[1] - RANGES[0] + 1) * width, count, replace=False)
    ranges, slides = np.divmod(numbers, width)
    return ranges + RANGES[0], slides + SLIDES[0]


def distinct_predicates(count: int, rng: np.random.Generator) -> list[str]:
    """Draw `count` distinct predicates of Table 8: Member AND Value, every choice with equal probability.

    >>> distinct_predicates(2, np.random.default_rng(0))
    ['NOT r2000 AND price * volume > 1289', 'r3000 AND volume < 5721']
    """
    predicates: dict[str, None] = {}  # a dict keeps the order, a set would not
    while len(predicates) < count:
        member = f"{('', 'NOT ')[rng.integers(2)]}{INDEXES[rng.integers(3)]}"
        quantity, constant = _value(int(rng.integers(3)), rng)
        predicates[f"{member} AND {quantity} {'><'[rng.integers(2)]} {constant}"] = None
    return list(predicates)


def _value(kind: int, rng: np.random.Generator) -> tuple[str, str]:
    """Return a quantity and a constant that part of the trades exceed: volume, value, or change since the close."""
    if kind == 0:
        return "volume", str(int(np.exp(rng.uniform(np.log(50), np.log(9_000)))))
    if kind == 1:
        return "price * volume", str(int(np.exp(rng.uniform(np.log(1_000), np.log(500_000)))))
    return "abs(price - close) / close", f"{rng.uniform(0.001, 0.05):.4f}"
