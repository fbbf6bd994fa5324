"""Slices and their partials in Spark SQL: made from events, merged from finer slices, finished into answers.

A script holds one column per component; the frame lane holds the engine's exact partials, in one to four columns.
{x}, {y} and {ts} are the arguments and the time, null for events that do not pass the predicate; {c} is a column.
The start of a slice is an expression that every plain Spark has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

from optimizer.catalog.model.catalog import window_call
from optimizer.catalog.model.query import Query
from optimizer.catalog.sql.expressions import quote
from optimizer.plan.definition import Measure
from optimizer.plan.measures import measures_of
from optimizer.windows.edges import Edges, common_step, period
from optimizer.windows.window import Window

FEW = 8  # progressions written side by side; Spark never finishes compiling the code it generates for many
LONGEST_TABLE = 4096  # steps of a composite slide that a script looks up
LONGEST_ARRAY = 4096  # literals of array(...): Spark takes seconds to analyze more of them


def slice_window(edges: Edges) -> Window | None:
    """Return the tumbling window that has exactly these edges, or None if there is none.

    >>> slice_window(((10, 3),))
    Window(range=10, slide=10, offset=3, rows=False)
    >>> slice_window(((4, 0), (6, 0)))
    """
    if len(edges) > 1:
        return None
    ((size, residue),) = edges
    return Window(size, size, residue)


def slice_start(edges: Edges, time: str) -> str:
    """Return the start of the slice that holds a time, of the time column's type, as Spark's own window has it.

    >>> slice_start(((10_000_000, 0),), "ts")
    "window(ts, '10 seconds').start"
    >>> slice_start(((4, 0), (6, 0)), "at")[:60]
    'timestampadd(MICROSECOND, -(least(pmod(unix_micros(cast(at A'
    """
    if window := slice_window(edges):
        return f"{window_call(window, time)}.start"
    return f"timestampadd(MICROSECOND, -({since_edge(edges, microseconds(quote(time)))}), {quote(time)})"


def microseconds(time: str) -> str:
    """Return a time column as microseconds since 1970.

    >>> microseconds("ts")
    'unix_micros(cast(ts AS TIMESTAMP))'
    """
    return f"unix_micros(cast({time} AS TIMESTAMP))"


def since_edge(edges: Edges, tick: str, longest_table: int = LONGEST_TABLE) -> str:
    """Return the ticks between the last edge and a tick.

    Few progressions are tried side by side; more of them are looked up by the place in the composite slide, unless
    that has more steps than the longest table.

    >>> since_edge(((4, 0), (6, 1)), "t")
    'least(pmod(t, 4), pmod(t - 1, 6))'
    """
    if len(edges) == 1:  # least() takes two arguments or more
        ((size, residue),) = edges
        return f"pmod({_subtract(tick, residue)}, {size})"
    if len(edges) <= FEW:
        return f"least({', '.join(f'pmod({_subtract(tick, residue)}, {size})' for size, residue in edges)})"
    step, shift = common_step(edges)
    length = period(edges)
    if length // step <= longest_table:
        from_shift = _subtract(tick, shift)
        place = f"pmod({from_shift}, {length}) DIV {step}"
        return f"pmod({from_shift}, {step}) + {_table(steps_since_edge(edges))}[{place}] * {step}L"
    pairs = ", ".join(f"named_struct('p', {size}L, 'r', {residue}L)" for size, residue in edges)
    return f"array_min(transform(array({pairs}), e -> pmod({tick} - e.r, e.p)))"


def steps_since_edge(edges: Edges) -> list[int]:
    """Return, for every common step of a composite slide, how many steps ago the last edge was.

    >>> steps_since_edge(((4, 0), (6, 0)))  # edges at 0, 4, 6, 8 of 12 ticks, in steps of 2
    [0, 1, 0, 0, 0, 1]
    """
    step, shift = common_step(edges)
    length = period(edges)
    edge_ticks = set(chain.from_iterable(range((residue - shift) % size, length, size) for size, residue in edges))
    since, steps = 0, []
    for tick in range(0, length, step):  # the first step is an edge: the shift is one
        since = 0 if tick in edge_ticks else since + 1
        steps.append(since)
    return steps


def _table(numbers: list[int]) -> str:
    if len(numbers) <= LONGEST_ARRAY:
        return f"array({', '.join(map(str, numbers))})"
    return f"cast(split('{','.join(map(str, numbers))}', ',') AS array<bigint>)"


def _subtract(tick: str, ticks: int) -> str:
    return f"{tick} - {ticks}" if ticks else tick


@dataclass(frozen=True)
class Partial:
    """A component's SQL: `made` from events, `merged` into a column again, `folded` into what an aggregate needs."""

    made: str
    merged: str
    folded: str = ""


def _same_function(function: str) -> Partial:
    return Partial(f"{function}({{x}})", f"{function}({{c}})")


def _pick_by(pick: str, order: str) -> Partial:
    """Keep the value beside what it was picked by: two columns of buffers stay in Spark's hash aggregate."""
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
# Of equal values the mean is that value, to the last digit, so that M2 of several slices stays 0
MEAN = "if(min({0}) = max({0}), min({0}), avg({0}))"


def _merge_structs(parts: dict[str, str]) -> str:
    """Return the fold of structs by formulas of a and b, where d is the difference of two means."""
    zeros = ", ".join(f"'{name}', 0D" for name in parts)
    sums = ", ".join(f"'{name}', {sql}" for name, sql in parts.items())
    return (
        f"aggregate(collect_list({{c}}), named_struct({zeros}), (a, b) -> if(a.n = 0, b, named_struct({sums})), "
        "m -> {finish})"
    )


def _share(x: str, y: str) -> str:
    return f"(b.{x} - a.{x}) * (b.{y} - a.{y}) * (a.n * b.n / (a.n + b.n))"


def _merge_means(mean: str) -> str:
    """Return the mean of both; an infinity stays, as in a sum."""
    a, b = f"a.{mean}", f"b.{mean}"
    infinite = f"abs({a}) = double('Infinity') OR abs({b}) = double('Infinity')"
    return f"if({infinite}, {a} + {b}, {a} + ({b} - {a}) * (b.n / (a.n + b.n)))"


D = "(b.mean - a.mean)"
CENTRAL_MOMENTS = _merge_structs(
    {
        "n": "a.n + b.n",
        "mean": f"a.mean + {D} * (b.n / (a.n + b.n))",
        "m2": f"a.m2 + b.m2 + {_share('mean', 'mean')}",
        "m3": f"a.m3 + b.m3 + {_share('mean', 'mean')} * {D} * ((a.n - b.n) / (a.n + b.n)) "
        f"+ 3 * {D} * ((a.n * b.m2 - b.n * a.m2) / (a.n + b.n))",
        "m4": f"a.m4 + b.m4 + {_share('mean', 'mean')} * {D} * {D} "
        "* ((a.n * a.n - a.n * b.n + b.n * b.n) / ((a.n + b.n) * (a.n + b.n))) "
        f"+ 6 * {D} * {D} * ((a.n * a.n * b.m2 + b.n * b.n * a.m2) / ((a.n + b.n) * (a.n + b.n))) "
        f"+ 4 * {D} * ((a.n * b.m3 - b.n * a.m3) / (a.n + b.n))",
    }
)
MADE_CENTRAL_MOMENTS = (
    f"if(count({{x}}) = 0, NULL, named_struct('n', cast(count({{x}}) AS DOUBLE), 'mean', {MEAN.format('{x}')}, "
    "'m2', var_pop({x}) * count({x}), "
    "'m3', coalesce(skewness({x}) * sqrt(pow(var_pop({x}), 3)) * count({x}), 0D), "
    "'m4', coalesce((kurtosis({x}) + 3) * pow(var_pop({x}), 2) * count({x}), 0D)))"
)
CO_MOMENTS = _merge_structs(
    {
        "n": "a.n + b.n",
        "x": _merge_means("x"),
        "y": _merge_means("y"),
        "xy": f"a.xy + b.xy + {_share('x', 'y')}",
        "xx": f"a.xx + b.xx + {_share('x', 'x')}",
        "yy": f"a.yy + b.yy + {_share('y', 'y')}",
    }
)
MADE_CO_MOMENTS = (
    "if(regr_count({x}, {y}) = 0, NULL, named_struct('n', cast(regr_count({x}, {y}) AS DOUBLE), "
    f"'x', {MEAN.format('if({y} IS NULL, NULL, {x})')}, 'y', {MEAN.format('if({x} IS NULL, NULL, {y})')}, "
    "'xy', covar_pop({x}, {y}) * regr_count({x}, {y}), "
    "'xx', regr_syy({x}, {y}), 'yy', regr_sxx({x}, {y})))"
)

MADE_MOMENTS = (
    "if(count({x}) = 0, NULL, named_struct("
    "'n', cast(count({x}) AS DOUBLE), 'mean', avg({x}), 'm2', var_pop({x}) * count({x})))"
)

PARTIALS: dict[str, Partial] = {
    "count": Partial("count({x})", "sum({c})"),
    "sum": _same_function("sum"),
    "sum_squares": Partial("sum(({x}) * ({x}))", "sum({c})"),
    "product": Partial(PRODUCT.format("cast({x} AS DOUBLE)"), PRODUCT.format("{c}")),
    "min": _same_function("min"),
    "max": _same_function("max"),
    "bool_and": _same_function("bool_and"),
    "bool_or": _same_function("bool_or"),
    "bit_and": _same_function("bit_and"),
    "bit_or": _same_function("bit_or"),
    "bit_xor": _same_function("bit_xor"),
    "first": _pick_by("min_by", "{ts}"),
    "last": _pick_by("max_by", "{ts}"),
    "argmin": _pick_by("min_by", "{y}"),
    "argmax": _pick_by("max_by", "{y}"),
    **{
        component: Partial(made, merged.replace("{finish}", "if(m.n = 0, NULL, m)"), merged)
        for component, made, merged in (
            ("moments", MADE_MOMENTS, MOMENTS),
            ("central_moments", MADE_CENTRAL_MOMENTS, CENTRAL_MOMENTS),
            ("co_moments", MADE_CO_MOMENTS, CO_MOMENTS),
        )
    },
}


FINALS: dict[str, str] = {  # {0}, {1}: the folded measures in the order the aggregate needs them
    "avg": "{0} / nullif({1}, 0)",
    "try_avg": "{0} / nullif({1}, 0)",
    "range": "{0} - {1}",
    "geometric_mean": "exp({0} / nullif({1}, 0))",
}
FINISHED_MOMENTS: dict[str, str] = {
    "var_pop": "if(m.n = 0, NULL, m.m2 / m.n)",
    "var_samp": "if(m.n < 2, NULL, m.m2 / (m.n - 1))",
    "stddev_pop": "if(m.n = 0, NULL, sqrt(m.m2 / m.n))",
    "stddev_samp": "if(m.n < 2, NULL, sqrt(m.m2 / (m.n - 1)))",
    "skewness": "if(m.m2 = 0, NULL, sqrt(m.n) * m.m3 / sqrt(m.m2 * m.m2 * m.m2))",
    "kurtosis": "if(m.m2 = 0, NULL, m.n * m.m4 / (m.m2 * m.m2) - 3)",
    # of pairs: x is the first argument, which regr_* calls y
    "covar_pop": "if(m.n = 0, NULL, m.xy / m.n)",
    "covar_samp": "if(m.n < 2, NULL, m.xy / (m.n - 1))",
    "corr": "if(m.n < 2 OR m.xx = 0 OR m.yy = 0, NULL, m.xy / nullif(sqrt(m.xx * m.yy), 0))",
    "regr_count": "cast(m.n AS BIGINT)",
    "regr_avgy": "if(m.n = 0, NULL, m.x)",
    "regr_avgx": "if(m.n = 0, NULL, m.y)",
    "regr_sxy": "if(m.n = 0, NULL, m.xy)",
    "regr_syy": "if(m.n = 0, NULL, m.xx)",
    "regr_sxx": "if(m.n = 0, NULL, m.yy)",
    "regr_slope": "if(m.yy = 0, NULL, m.xy / m.yy)",
    "regr_intercept": "if(m.yy = 0, NULL, m.x - m.xy / m.yy * m.y)",
    "regr_r2": "if(m.yy = 0, NULL, if(m.xx = 0, 1D, m.xy * m.xy / (m.xx * m.yy)))",
}

# Partials of the engine, which are exact where Spark's own sums round or overflow: a whole number is summed in two
# limbs of {bits} bits, a double in two halves. Below 1e38 a float of 24 bits stands for the double, and the sum of
# such floats is exact for long; the other half is what the float leaves over.
_HALVES = (
    "sum(if(abs({x}) < 1e+38D, cast(cast({x} AS float) AS double), cast({x} AS double)))",
    "sum(if(abs({x}) < 1e+38D, {x} - cast(cast({x} AS float) AS double), 0D))",
)
EXACT: dict[str, tuple[str, ...]] = {
    "count": (PARTIALS["count"].made,),
    "min": (PARTIALS["min"].made,),
    "max": (PARTIALS["max"].made,),
    "bit_and": ("bit_and(cast({x} AS bigint))",),
    "bit_or": ("bit_or(cast({x} AS bigint))",),
    "bit_xor": ("bit_xor(cast({x} AS bigint))",),
    "whole_sum": ("sum(shiftright(cast({x} AS bigint), {bits}))", "sum(cast({x} AS bigint) & {mask}L)"),
    "sum": _HALVES,
    "moments": ("count({x})", *_HALVES, "var_pop({x})"),
}


def make_partial(measure: Measure, time: str) -> str:
    """Return a slice's partial of a measure, made from the slice's events.

    >>> make_partial(Measure("max", ("x",), "y > 3"), "ts")
    'max(CASE WHEN y > 3 THEN x END)'
    """
    x, y = (*(only_where(argument, measure.where) for argument in measure.arguments), "")[:2]
    return PARTIALS[measure.component].made.format(x=x, y=y, ts=only_where(quote(time), measure.where))


def make_exact_parts(name: str, value: str, bits: int) -> list[str]:
    """Return the Spark aggregates that make up an exact partial of the engine; a limb has `bits` bits.

    >>> make_exact_parts("whole_sum", "x", 32)
    ['sum(shiftright(cast(x AS bigint), 32))', 'sum(cast(x AS bigint) & 4294967295L)']
    """
    return [part.format(x=value, bits=bits, mask=(1 << bits) - 1) for part in EXACT[name]]


def merge_partials(measure: Measure, column: str) -> str:
    """Return a slice's partial of a measure, merged from the finer slices' column.

    >>> merge_partials(Measure("count", ("*",)), "count_1")
    'sum(count_1)'
    """
    return PARTIALS[measure.component].merged.replace("{c}", column)


def fold_partials(measure: Measure, column: str) -> str:
    """Return what a window's slices hold together; of moments, `{finish}` is still open.

    >>> fold_partials(Measure("first", ("x",)), "first_1")
    'min_by(first_1.value, first_1.place)'
    """
    partial = PARTIALS[measure.component]
    return (partial.folded or partial.merged).replace("{c}", column)


def finish_query(query: Query, names: Mapping[Measure, str]) -> str:
    """Return the query's aggregate from the columns of its slices, null where Spark's own aggregate is null."""
    parts = [fold_partials(measure, names[measure]) for measure in measures_of(query)]
    if query.aggregate in FINISHED_MOMENTS:
        return parts[0].replace("{finish}", FINISHED_MOMENTS[query.aggregate])
    return FINALS.get(query.aggregate, "{0}").format(*parts)


def only_where(sql: str, where: str) -> str:
    """Return a value that is null for events that do not pass a predicate.

    What Spark refuses for such events, like a division by zero, then does not matter. FILTER would not do: Spark may
    evaluate what two aggregates have in common before it looks at their filters.

    >>> only_where("x / y", "y > 0")
    'CASE WHEN y > 0 THEN x / y END'
    """
    return f"CASE WHEN {where} THEN {'1' if sql == '*' else sql} END" if where else sql
