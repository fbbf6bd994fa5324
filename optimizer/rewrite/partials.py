"""Partials in SQL: per component one column, how it is made from events and how columns of it are merged.

{x}, {y} and {ts} are the arguments and the time, null for events that do not pass the predicate; {c} is a column.
"""

from __future__ import annotations

from dataclasses import dataclass

from optimizer.catalog.sql.expressions import quote
from optimizer.plan.definition import Measure


@dataclass(frozen=True)
class Partial:
    """One component: `made` from events, `merged` into a column again, `folded` into what an aggregate is made of."""

    made: str
    merged: str
    folded: str = ""


def _alike(function: str) -> Partial:
    return Partial(f"{function}({{x}})", f"{function}({{c}})")


def _picked(pick: str, order: str) -> Partial:
    """The value and what it was picked by, side by side: two columns of buffers stay in Spark's hash aggregate."""
    by = "min" if pick == "min_by" else "max"
    return Partial(
        f"named_struct('value', {pick}({{x}}, {order}), 'place', {by}({order}))",
        f"named_struct('value', {pick}({{c}}.value, {{c}}.place), 'place', {by}({{c}}.place))",
        f"{pick}({{c}}.value, {{c}}.place)",
    )


PRODUCT = "if(count({0}) = 0, NULL, aggregate(collect_list({0}), 1D, (a, b) -> a * b))"

# Chan et al.: two (count, mean, M2) as one; a fold starts with the first, which no rounding touches
MOMENTS = (
    "aggregate(collect_list({c}), named_struct('n', 0D, 'mean', 0D, 'm2', 0D), (a, b) -> if(a.n = 0, b, named_struct("
    "'n', a.n + b.n, "
    "'mean', a.mean + (b.mean - a.mean) * (b.n / (a.n + b.n)), "
    "'m2', a.m2 + b.m2 + (b.mean - a.mean) * (b.mean - a.mean) * (a.n * b.n / (a.n + b.n)))), m -> {finish})"
)
MADE_MOMENTS = (
    "if(count({x}) = 0, NULL, named_struct("
    "'n', cast(count({x}) AS DOUBLE), 'mean', avg({x}), 'm2', var_pop({x}) * count({x})))"
)

PARTIALS: dict[str, Partial] = {
    "count": Partial("count({x})", "sum({c})"),
    "sum": _alike("sum"),
    "sum_squares": Partial("sum(({x}) * ({x}))", "sum({c})"),
    "product": Partial(PRODUCT.format("cast({x} AS DOUBLE)"), PRODUCT.format("{c}")),
    "min": _alike("min"),
    "max": _alike("max"),
    "bool_and": _alike("bool_and"),
    "bool_or": _alike("bool_or"),
    "bit_and": _alike("bit_and"),
    "bit_or": _alike("bit_or"),
    "first": _picked("min_by", "{ts}"),
    "last": _picked("max_by", "{ts}"),
    "argmin": _picked("min_by", "{y}"),
    "argmax": _picked("max_by", "{y}"),
    "moments": Partial(MADE_MOMENTS, MOMENTS.replace("{finish}", "if(m.n = 0, NULL, m)"), MOMENTS),
}


def made(measure: Measure, time: str) -> str:
    """The measure of a slice, from its events."""
    x, y = (*(guarded(argument, measure.where) for argument in measure.arguments), "")[:2]
    return PARTIALS[measure.component].made.format(x=x, y=y, ts=guarded(quote(time), measure.where))


def merged(measure: Measure, column: str) -> str:
    """The measure of a slice, from the slices it is made of."""
    return PARTIALS[measure.component].merged.replace("{c}", column)


def folded(measure: Measure, column: str) -> str:
    """What a window's slices hold together; of moments, `{finish}` is still open."""
    partial = PARTIALS[measure.component]
    return (partial.folded or partial.merged).replace("{c}", column)


def guarded(sql: str, where: str) -> str:
    """A value only where the predicate holds: what Spark refuses elsewhere (a division by zero) does not matter.

    FILTER would not do: Spark may evaluate what two aggregates have in common before it looks at their filters.
    """
    return f"CASE WHEN {where} THEN {'1' if sql == '*' else sql} END" if where else sql
