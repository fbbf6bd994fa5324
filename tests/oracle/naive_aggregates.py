"""What one window holds: every aggregate over a list of rows, as Spark answers it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

Event = Mapping[str, Any]  # {"ts": microseconds, column: value, ...}; None is null
Expression = str | Callable[[Event], Any]  # a column's name, "*", or a function of the event


def value_of(row: Event, expression: Expression) -> Any:
    if callable(expression):
        return expression(row)
    return True if expression == "*" else row[expression]


def not_null(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if value is not None]


def rank(value: Any) -> tuple[bool, Any]:
    """Spark's order: NaN above every number."""
    nan = isinstance(value, float) and math.isnan(value)
    return nan, 0 if nan else value


def int64(value: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise OverflowError(f"{value} does not fit a bigint")
    return value


def to_double(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def total(values: list[Any]) -> Any:
    """Integers exactly, or an error; floats exactly, then rounded once; what is not finite wins."""
    if not values:
        return None
    if all(isinstance(value, int) for value in values):
        return int64(sum(values))
    wild = [value for value in values if not math.isfinite(value)]
    if wild:
        return sum(wild)
    return to_double(sum(map(Fraction, values), Fraction(0)))


def mean(values: list[Any]) -> float | None:
    doubles = [float(value) for value in values]
    if not doubles or not all(map(math.isfinite, doubles)):
        return total(doubles)
    return to_double(sum(map(Fraction, doubles)) / len(doubles))


def variance(values: list[Any], sample: bool) -> float | None:
    doubles = [float(value) for value in values]
    if len(doubles) <= sample:
        return None
    if not all(map(math.isfinite, doubles)):
        return math.nan
    exact = [Fraction(value) for value in doubles]
    center = sum(exact) / len(exact)
    return to_double(sum((value - center) ** 2 for value in exact) / (len(exact) - sample))


def deviation(values: list[Any], sample: bool) -> float | None:
    squared = variance(values, sample)
    return None if squared is None else math.sqrt(squared)


def central(values: list[Any], order: int) -> float | None:
    """Skewness (order 3) or excess kurtosis (order 4); null where nothing varies."""
    doubles = [float(value) for value in values]
    if not all(map(math.isfinite, doubles)):
        return math.nan
    exact = [Fraction(value) for value in doubles]
    center = sum(exact, Fraction(0)) / max(len(exact), 1)
    m2, high = (sum((value - center) ** power for value in exact) for power in (2, order))
    if not m2:
        return None
    if order == 4:
        return to_double(len(exact) * high / m2**2 - 3)
    return math.copysign(math.sqrt(to_double(len(exact) * high**2 / m2**3)), high)


def of_pairs(name: str, pairs: list[tuple[Any, Any]]) -> Any:
    """covar_*, corr and regr_* of the pairs without a null; regr_* calls the first of a pair y."""
    n = len(pairs)
    if name == "regr_count":
        return n
    first, second = ([float(pair[place]) for pair in pairs] for place in (0, 1))
    alone = {"regr_avgy": first, "regr_avgx": second, "regr_syy": first, "regr_sxx": second}.get(name)
    if alone is not None:
        if name.startswith("regr_avg"):
            return mean(alone)
        squared = variance(alone, sample=False)
        return squared if squared is None or math.isnan(squared) else squared * n
    if not n or (n == 1 and name in ("covar_samp", "corr")):
        return None
    if not all(map(math.isfinite, (*first, *second))):
        # a slope is over what x varies by: where that is nothing, there is none
        flat = [len({*side}) == 1 and math.isfinite(side[0]) for side in (first, second)]
        sloped = name in ("regr_slope", "regr_intercept", "regr_r2")
        if name == "regr_r2" and flat[0] and not flat[1]:
            return 1.0  # nothing is left to explain
        return None if (sloped and flat[1]) or (name == "corr" and any(flat)) else math.nan
    ys, xs = [Fraction(value) for value in first], [Fraction(value) for value in second]
    y, x = sum(ys) / n, sum(xs) / n
    xy = sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True))
    xx, yy = sum((a - x) ** 2 for a in xs), sum((b - y) ** 2 for b in ys)
    if name in ("covar_pop", "covar_samp", "regr_sxy"):
        return to_double(xy / {"covar_pop": n, "covar_samp": n - 1, "regr_sxy": 1}[name])
    if name == "corr":
        return math.copysign(math.sqrt(to_double(xy**2 / (xx * yy))), xy) if xx and yy else None
    if not xx:
        return None
    if name == "regr_r2":
        return to_double(xy**2 / (xx * yy)) if yy else 1.0
    return to_double(xy / xx if name == "regr_slope" else y - xy / xx * x)


def try_total(values: list[Any]) -> Any:
    try:
        return total(values)
    except OverflowError:
        return None


def ln(value: float) -> float | None:
    """Spark's ln: null where there is none, NaN of NaN."""
    return None if value <= 0 else math.log(value)


def geometric_mean(values: list[Any]) -> float | None:
    logarithm = mean(not_null(map(ln, values)))
    return None if logarithm is None else math.exp(logarithm)


def width(values: list[Any]) -> Any:
    if not values:
        return None
    difference = max(values, key=rank) - min(values, key=rank)
    return int64(difference) if isinstance(difference, int) else difference


def fold(combine: Callable[[Any, Any], Any]) -> Callable[[list[Any]], Any]:
    def folded(values: list[Any]) -> Any:
        result = values[0] if values else None
        for value in values[1:]:
            result = combine(result, value)
        return result

    return folded


def squares(values: list[Any]) -> list[Any]:
    return [int64(value * value) if isinstance(value, int) else value * value for value in values]


def distinct(values: list[Any]) -> list[Any]:
    """Every value once: NaN is one value, and so is zero."""
    return list({rank(value): value for value in values}.values())


def percentile(values: list[Any], share: float, reverse: bool = False) -> float | None:
    """The value at (n - 1) * share in Spark's order, or its reverse; between two of them by interpolation."""
    if not values:
        return None
    ordered = [float(value) for value in sorted(values, key=rank, reverse=reverse)]
    place = (len(ordered) - 1) * share
    below, above = ordered[math.floor(place)], ordered[math.ceil(place)]
    if below == above or place == math.floor(place):
        return below
    return below + (above - below) * (place - math.floor(place))


def value_at(values: list[Any], share: float, reverse: bool = False) -> Any:
    """The first value in order up to which there are at least that share of all."""
    ordered = sorted(values, key=rank, reverse=reverse)
    return ordered[max(math.ceil(len(ordered) * share), 1) - 1] if ordered else None


def discrete(values: list[Any], share: float, reverse: bool = False) -> float | None:
    return value_at([float(value) for value in values], share, reverse)


def modes(values: list[Any]) -> list[Any]:
    """The most frequent values: Spark leaves open which of them is the answer."""
    counts: dict[Any, int] = {}
    for value in values:
        counts[rank(value)] = counts.get(rank(value), 0) + 1
    return [value for value in distinct(values) if counts[rank(value)] == max(counts.values())] or [None]


OF_VALUES: dict[str, Callable[[list[Any]], Any]] = {  # each over the values that are not null, in event order
    "count": len,
    "sum": total,
    "sum_squares": lambda values: total(squares(values)),
    "product": lambda values: fold(lambda a, b: a * b)([float(value) for value in values]),
    "min": lambda values: min(values, key=rank, default=None),
    "max": lambda values: max(values, key=rank, default=None),
    "bool_and": fold(lambda a, b: a and b),
    "bool_or": fold(lambda a, b: a or b),
    "bit_and": fold(lambda a, b: a & b),
    "bit_or": fold(lambda a, b: a | b),
    "bit_xor": fold(lambda a, b: a ^ b),
    "try_sum": try_total,
    "avg": mean,
    "try_avg": mean,
    "var_pop": lambda values: variance(values, sample=False),
    "var_samp": lambda values: variance(values, sample=True),
    "stddev_pop": lambda values: deviation(values, sample=False),
    "stddev_samp": lambda values: deviation(values, sample=True),
    "skewness": lambda values: central(values, 3),
    "kurtosis": lambda values: central(values, 4),
    "range": width,
    "geometric_mean": geometric_mean,
    "count_distinct": lambda values: len(distinct(values)),
    "sum_distinct": lambda values: total(distinct(values)),
    "avg_distinct": lambda values: mean(distinct(values)),
    "median": lambda values: percentile(values, 0.5),
    "mode": lambda values: modes(values)[0],
}
OF_SHARES: dict[str, Callable[[list[Any], float], Any]] = {
    "percentile": percentile,
    "percentile_cont": percentile,
    "percentile_disc": discrete,
    "percentile_cont_desc": partial(percentile, reverse=True),
    "percentile_disc_desc": partial(discrete, reverse=True),
    "percentile_approx": value_at,
}

BY_ORDER = {"first": min, "last": max, "any_value": min, "argmin": min, "argmax": max}  # Spark's min_by and max_by
OF_PAIRS = [
    "covar_pop",
    "covar_samp",
    "corr",
    "regr_count",
    "regr_avgx",
    "regr_avgy",
    "regr_sxx",
    "regr_syy",
    "regr_sxy",
    "regr_slope",
    "regr_intercept",
    "regr_r2",
]


BY_SPARK = {"approx_count_distinct"}  # estimates, which Spark's own are compared with


def choices(rows: Sequence[Event], aggregate: str, x: Expression, y: Expression) -> list[Any]:
    """Every value that mode, first, last, argmin or argmax may take: Spark leaves ties open; x may be null, y not."""
    if aggregate == "mode":
        return modes(not_null(value_of(row, x) for row in rows))
    pairs = [(value_of(row, x), value_of(row, y)) for row in rows if value_of(row, y) is not None]
    if not pairs:
        return [None]
    best = BY_ORDER[aggregate](rank(order) for _, order in pairs)
    return [value for value, order in pairs if rank(order) == best]


def aggregate_of(rows: Sequence[Event], aggregate: str, x: Expression = "x", y: Expression = "y") -> Any:
    """The aggregate of the rows of one window; of tied values the first to arrive."""
    if aggregate in ("first", "last", "any_value"):
        return choices(rows, aggregate, x, "ts")[0]
    if aggregate in BY_ORDER:
        return choices(rows, aggregate, x, y)[0]
    if aggregate in OF_PAIRS:
        pairs = [(value_of(row, x), value_of(row, y)) for row in rows]
        return of_pairs(aggregate, [pair for pair in pairs if None not in pair])
    values = not_null(value_of(row, x) for row in rows)
    return OF_SHARES[aggregate](values, float(str(y))) if aggregate in OF_SHARES else OF_VALUES[aggregate](values)


def same(a: Any, b: Any, tolerance: float = 0.0) -> bool:
    """Equal as answers are: null with null, NaN with NaN, floats within a relative tolerance."""
    if a is None or b is None:
        return a is b
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or a == b or math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)
    return bool(a == b)
