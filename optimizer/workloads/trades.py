"""The four workloads of on-the-fly sharing (section 6.1): turnover of trades joined with Close and Index.

Workload A shares time slices (no predicate, many windows), B shares data fragments (many predicates, one window), and
C shares data shards (predicates and windows differ), once with much in common and once with nothing twice.
"""

from __future__ import annotations

import math

import numpy as np

from optimizer.workloads.draws import require
from optimizer.workloads.workload import Shape, Ticks, Workload

SELECT = "sum(price * volume)"
RANGES, SLIDES = (600, 900), (300, 600)  # seconds, both ends included: Table 8
TUMBLING = 600  # seconds: the window of workload B
INDEXES = ("r3000", "r2000", "r1000")
MOST_QUERIES = 10_000  # where every query has a predicate or a window of its own


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
    """The windows of A with the predicates of B, sqrt(n) of each, no combination twice."""
    require("queries", queries, 1, MOST_QUERIES)
    rng = np.random.default_rng(seed)
    side = math.isqrt(queries - 1) + 1
    shapes = tuple(map(turnover, distinct_predicates(side, rng)))
    ranges, slides = distinct_windows(side, rng)
    window, shape = np.divmod(rng.permutation(side * side)[:queries], side)
    return Workload(ranges[window], slides[window], shapes, shape)


def trades_c_low(queries: int, seed: int = 0) -> Workload:
    """The windows of A with the predicates of B, no window and no predicate twice."""
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
