"""Expressions and predicates twice: as Spark SQL, and as Python that means the same (a test asks Spark whether)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.oracle.naive_aggregates import OF_PAIRS, OF_SHARES, rank
from tests.worlds.streams import Row

Meaning = Callable[[Row], Any]


def column(name: str) -> Meaning:
    """The value of a column."""
    return lambda row: row[name]


def lifted(function: Callable[..., Any], *parts: Meaning) -> Meaning:
    """Null when any part is null."""

    def value(row: Row) -> Any:
        values = [part(row) for part in parts]
        return None if any(v is None for v in values) else function(*values)

    return value


def compared(test: Callable[[int], bool], left: Meaning, right: Meaning) -> Meaning:
    """A comparison in Spark's order."""
    return lifted(lambda a, b: test((rank(a) > rank(b)) - (rank(a) < rank(b))), left, right)


def constant(value: Any) -> Meaning:
    """The same for every row."""
    return lambda row: value


def both(left: Meaning, right: Meaning) -> Meaning:
    """AND of three-valued logic."""

    def value(row: Row) -> Any:
        a, b = left(row), right(row)
        return False if a is False or b is False else None if a is None or b is None else True

    return value


def negated(part: Meaning) -> Meaning:
    """NOT of three-valued logic."""
    return lifted(lambda value: not value, part)


def either(left: Meaning, right: Meaning) -> Meaning:
    """OR of three-valued logic."""
    return negated(both(negated(left), negated(right)))


def single(value: float | None) -> float | None:
    """As a float of 32 bits."""
    return None if value is None else float(np.float32(value))


X, Y, N, INT, B, S = (column(name) for name in ("x", "y", "n", "i", "b", "s"))
FLOATS: dict[str, Meaning] = {
    "x": X,
    "y": Y,
    "x * 2.5": lifted(lambda x: x * 2.5, X),
    "abs(y)": lifted(abs, Y),
    "-x": lifted(lambda x: -x, X),
    "cast(n AS DOUBLE)": lifted(float, N),
    "x + i": lifted(lambda x, i: x + i, X, INT),
}
SINGLES: dict[str, Meaning] = {"f": lambda row: single(row["f"])}
INTEGERS: dict[str, Meaning] = {
    "n": N,
    "i": INT,
    "i * 7 - 2": lifted(lambda i: i * 7 - 2, INT),
    "n + i": lifted(lambda n, i: n + i, N, INT),
    "-i": lifted(lambda i: -i, INT),
    "m": column("m"),
}
BOOLEANS: dict[str, Meaning] = {"b": B, "x > y": compared(lambda c: c > 0, X, Y), "NOT b": negated(B)}
OTHERS: dict[str, Meaning] = {"s": S, "k": column("k"), "d": column("d"), "ts": column("ts")}
NUMBERS = {**FLOATS, **INTEGERS}
EVERYTHING: dict[str, Meaning] = {**NUMBERS, **SINGLES, **BOOLEANS, **OTHERS}

PREDICATES: dict[str, Meaning] = {
    "b": B,
    "x > 1.5": compared(lambda c: c > 0, X, constant(1.5)),
    "x <= y": compared(lambda c: c <= 0, X, Y),
    "x = y": compared(lambda c: c == 0, X, Y),
    "x <> y OR b": either(compared(lambda c: c != 0, X, Y), B),
    "NOT (x < 0 AND b)": negated(both(compared(lambda c: c < 0, X, constant(0.0)), B)),
    "s >= 'a' AND i IS NOT NULL": both(compared(lambda c: c >= 0, S, constant("a")), lambda row: row["i"] is not None),
    "k IN ('a', 'c')": lifted(lambda k: k in ("a", "c"), column("k")),
    "i NOT IN (0, 1)": lifted(lambda i: i not in (0, 1), INT),
    "n BETWEEN 10 AND 60": lifted(lambda n: 10 <= n <= 60, N),
    "n IS NULL": lambda row: row["n"] is None,
    "i > 1000": lifted(lambda i: i > 1000, INT),
}

ADDED = {**NUMBERS, **SINGLES}
MULTIPLIED = {**FLOATS, "i": INT, "n": N}
AGGREGATED: dict[str, dict[str, Meaning]] = {  # aggregate -> what it may be of
    **dict.fromkeys(("count", "min", "max", "first", "last", "any_value"), EVERYTHING),
    **dict.fromkeys(("sum", "avg", "var_pop", "var_samp", "stddev_pop", "stddev_samp"), ADDED),
    **dict.fromkeys(("try_sum", "try_avg", "skewness", "kurtosis", *OF_PAIRS), ADDED),
    **dict.fromkeys(("product", "range"), MULTIPLIED),
    "sum_squares": {"x": X, "i": INT, "abs(y)": FLOATS["abs(y)"]},
    **dict.fromkeys(("bool_and", "bool_or"), BOOLEANS),
    **dict.fromkeys(("bit_and", "bit_or", "bit_xor"), INTEGERS),
    "approx_count_distinct": EVERYTHING,
    **dict.fromkeys(("count_distinct", "mode"), EVERYTHING),
    **dict.fromkeys(("sum_distinct", "avg_distinct", "median", *OF_SHARES), ADDED),
    **dict.fromkeys(("argmin", "argmax"), EVERYTHING),
    "geometric_mean": {"x": X, "abs(y)": FLOATS["abs(y)"]},
}
