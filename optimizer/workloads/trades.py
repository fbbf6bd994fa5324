"""The four workloads of on-the-fly sharing: turnover of trades joined with Close and Index.

Workload A shares time slices (one predicate, many windows), B shares data fragments (many predicates, one window), and
C shares data shards (predicates and windows differ), once with much in common and once with hardly anything.
"""

from __future__ import annotations

import numpy as np

from optimizer.workloads.draws import draw_ranges, factors_of, require
from optimizer.workloads.workload import Shape, Workload

SELECT = "sum(price * volume)"
INDEXES = ("BLUE", "TECH", "SMALL")
LOTS = (100, 200, 300, 500, 1000)  # the volumes that make up most trades
LARGEST_VOLUME = 10_000
MOST_PREDICATES = 10_000  # where every query has a predicate of its own
POOL = 8  # predicates that the queries of trades_c choose from


def trades_a(queries: int, seed: int = 0, s_max: int = 60, o_max: int = 10) -> Workload:
    """Any slide up to S_max and any range up to O_max times as long; all trades above yesterday's close."""
    _require_lengths(s_max, o_max)
    rng = np.random.default_rng(seed)
    slides = rng.integers(1, s_max, queries, endpoint=True)
    return Workload(draw_ranges(slides, o_max, True, rng), slides, (turnover("price > close"),))


def trades_b(queries: int, seed: int = 0, s_max: int = 60, o_max: int = 10) -> Workload:
    """Every query its own predicate, all over the window (O_max * S_max, S_max)."""
    require("queries", queries, 1, MOST_PREDICATES)
    _require_lengths(s_max, o_max)
    shapes = tuple(map(turnover, wide_predicates(queries, np.random.default_rng(seed))))
    slides = np.full(queries, s_max)
    return Workload(slides * o_max, slides, shapes, np.arange(queries))


def trades_c(queries: int, seed: int = 0, s_max: int = 60, o_max: int = 10) -> Workload:
    """Slides from the factors of S_max, predicates from a small pool of overlapping ones."""
    _require_lengths(s_max, o_max, longest_slide=10**9)
    rng = np.random.default_rng(seed)
    shapes = tuple(map(turnover, wide_predicates(POOL, rng)))
    slides = rng.choice(factors_of(s_max), queries)
    return Workload(draw_ranges(slides, o_max, False, rng), slides, shapes, rng.integers(0, POOL, queries))


def trades_c_low(queries: int, seed: int = 0, s_max: int = 60, o_max: int = 10, overlap: int = 4) -> Workload:
    """Any slide up to S_max with a residue; every query its own thin band of volume, `overlap` of them over a trade."""
    require("queries", queries, 1, MOST_PREDICATES)
    _require_lengths(s_max, o_max)
    require("overlap", overlap, 1, 10_000)
    rng = np.random.default_rng(seed)
    shapes = tuple(map(turnover, narrow_predicates(queries, overlap, rng)))
    slides = rng.integers(1, s_max, queries, endpoint=True)
    return Workload(draw_ranges(slides, o_max, True, rng), slides, shapes, np.arange(queries))


def turnover(where: str) -> Shape:
    """Return the query shape that sums the turnover by symbol of the trades that pass the predicate.

    >>> turnover("price > close")
    Shape(select='sum(price * volume)', where='price > close', group_by='symbol', stream='market')
    """
    return Shape(SELECT, where, "symbol", "market")


def wide_predicates(count: int, rng: np.random.Generator) -> list[str]:
    """Draw `count` distinct predicates of which most trades pass several.

    They ask for a rise against the close, for an index, or for a volume.

    >>> wide_predicates(2, np.random.default_rng(0))
    ['volume >= 100', 'volume >= 200']
    """
    predicates: dict[str, None] = {}  # a dict keeps the order, a set would not
    while len(predicates) < count:
        drawn = len(predicates)
        volume = int(rng.integers(1, LARGEST_VOLUME) if drawn >= len(LOTS) else LOTS[drawn])
        change = 1 + round(float(rng.normal(0, 0.02)), 3)
        index = INDEXES[rng.integers(len(INDEXES))]
        kinds = (f"volume >= {volume}", f"price > {change:g} * close", f"index_name = '{index}' AND volume >= {volume}")
        predicates[kinds[rng.integers(len(kinds))]] = None
    return list(predicates)


def narrow_predicates(count: int, overlap: int, rng: np.random.Generator) -> list[str]:
    """Draw `count` distinct thin bands of volume within one index each, so that a trade passes about `overlap` of them.

    Ten bands of which a trade passes one are 3,000 wide: three indexes of 10,000 volumes have room for ten.

    >>> narrow_predicates(10, 1, np.random.default_rng(0))[0]
    "index_name = 'SMALL' AND volume >= 5280 AND volume < 8280"
    """
    width = max(1, round(LARGEST_VOLUME * len(INDEXES) * overlap / count))
    predicates: dict[str, None] = {}
    while len(predicates) < count:
        index, low = INDEXES[rng.integers(len(INDEXES))], int(rng.integers(1 - width, LARGEST_VOLUME))
        predicates[f"index_name = '{index}' AND volume >= {low} AND volume < {low + width}"] = None
    return list(predicates)


def _require_lengths(s_max: int, o_max: int, longest_slide: int = 10**6) -> None:
    require("s_max", s_max, 1, longest_slide)
    require("o_max", o_max, 1, 10**6)
