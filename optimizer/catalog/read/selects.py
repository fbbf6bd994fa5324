"""One aggregate of a select list: which it is, over what, under which name."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from sqlglot import exp

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.sql.column_names import spark_name
from optimizer.catalog.sql.expressions import AGGREGATE_NAMES, canonical, parse
from optimizer.catalog.sql.filters import add_filter, split_count
from optimizer.errors import Mistake, did_you_mean, show

# of HyperLogLog++: Spark refuses more, and beyond 18 bits of precision, half a megabyte a slice, it has no table
LEAST_DEVIATION, MOST_DEVIATION = 0.0022, 0.39


class SelectedAggregate(NamedTuple):
    """An aggregate as the user selected it."""

    aggregate: str
    arguments: tuple[str, ...]
    name: str


@lru_cache(maxsize=65_536)
def parse_selected(text: str) -> SelectedAggregate:
    """Parse an aggregate with an optional AS name.

    >>> parse_selected("max(price) AS top").name
    'top'
    """
    return read_aggregate(parse(text))


def read_aggregate(tree: exp.Expr) -> SelectedAggregate:
    """Return the aggregate of a tree, with an optional AS name and FILTER."""
    inner, name = unalias(tree)
    whole = inner.unnest()
    only = whole.expression.this if isinstance(whole, exp.Filter) else None
    aggregate, trees = _recognise(whole.this if only else whole)
    arguments = _check_arguments(aggregate, trees)
    if only:
        arguments = _filter_arguments(aggregate, arguments, only)
    elif aggregate == "sum" and (counted := split_count(arguments[0])):
        aggregate, arguments = "count", (add_filter("*", counted),)
    return SelectedAggregate(aggregate, arguments, name or spark_name(whole))


def _filter_arguments(aggregate: str, arguments: tuple[str, ...], only: exp.Expr) -> tuple[str, ...]:
    """Turn FILTER into an argument that is null elsewhere: a WHERE would lose the windows in which nothing passes."""
    if aggregate in ("first", "last", "any_value"):
        raise Mistake(f"FILTER is refused on {aggregate}", "write it as a query of its own, with WHERE")
    *others, last = arguments
    if AGGREGATES[aggregate].takes_constants:
        return add_filter(arguments[0], canonical(only)), *arguments[1:]
    return *others, add_filter(last, canonical(only))


def unalias(tree: exp.Expr) -> tuple[exp.Expr, str]:
    """Return what is selected, and its AS name ("" for none)."""
    if not isinstance(tree, exp.Alias):
        return tree, ""
    name = tree.args["alias"]
    if not isinstance(name, exp.Identifier) or not 0 < len(name.name) <= 128:
        raise Mistake(f"{show(name)} is no column name", "write AS and a name of 1 to 128 characters")
    return tree.this, str(name.name)


def _recognise(tree: exp.Expr) -> tuple[str, list[exp.Expr]]:
    if isinstance(tree, exp.Sub):
        return _range(tree)
    if isinstance(tree, exp.WithinGroup):
        return _within_group(tree)
    if not isinstance(tree, exp.Anonymous):
        if isinstance(tree, exp.Window):
            raise Mistake("a window function (OVER) is refused", "use an aggregate over the query's window")
        raise Mistake(f"{show(tree.sql('spark'))} is not an aggregate", "select one aggregate, as in max(x)")
    name = str(tree.this).lower()
    if name == "exp" and len(tree.expressions) == 1:
        return _geometric_mean(tree.expressions[0])
    if name == "count_if" and len(tree.expressions) == 1:
        return "count", [parse(add_filter("*", canonical(tree.expressions[0])))]
    if name not in AGGREGATE_NAMES:
        raise Mistake(
            f"there is no aggregate {show(tree.this)}",
            did_you_mean(name, AGGREGATE_NAMES, f"aggregates: {', '.join(AGGREGATES)}"),
        )
    return _plain(AGGREGATE_NAMES[name], tree.expressions)


def _plain(aggregate: str, arguments: list[exp.Expr]) -> tuple[str, list[exp.Expr]]:
    if len(arguments) == 1 and isinstance(arguments[0], exp.Distinct):
        if aggregate in ("min", "max", "collect_set"):
            return aggregate, arguments[0].expressions
        if aggregate == "count" and len(arguments[0].expressions) > 1:
            return "count_distinct_rows", arguments[0].expressions
        if f"{aggregate}_distinct" not in AGGREGATES:
            raise Mistake(f"{aggregate}(DISTINCT ...) is refused", "only count, sum and avg know DISTINCT")
        return f"{aggregate}_distinct", arguments[0].expressions
    if aggregate == "percentile" and len(arguments) == 3:
        return "percentile_by_frequency", arguments
    return aggregate, arguments


def _within_group(tree: exp.WithinGroup) -> tuple[str, list[exp.Expr]]:
    """Read percentile_cont(share) WITHIN GROUP (ORDER BY x), or percentile_disc; descending ones have other names."""
    name, orders = str(tree.this.this).lower(), tree.expression.expressions
    if name not in ("percentile_cont", "percentile_disc"):
        raise Mistake(f"{name} WITHIN GROUP is refused", "only percentile_cont and percentile_disc know WITHIN GROUP")
    if len(orders) != 1 or len(tree.this.expressions) != 1:
        raise Mistake(f"{name} takes one share and one order", f"write {name}(0.5) WITHIN GROUP (ORDER BY x)")
    return f"{name}_desc" if orders[0].args.get("desc") else name, [orders[0].this, *tree.this.expressions]


def _range(tree: exp.Sub) -> tuple[str, list[exp.Expr]]:
    high, low = tree.this, tree.expression
    if _is_call_of(high, "max") and _is_call_of(low, "min") and canonical_all(high) == canonical_all(low):
        return "range", high.expressions
    raise Mistake(f"{show(tree.sql('spark'))} is not one aggregate", "of differences only max(x) - min(x) is known")


def _geometric_mean(tree: exp.Expr) -> tuple[str, list[exp.Expr]]:
    if _is_call_of(tree, "avg", "mean") and _is_call_of(tree.expressions[0], "ln"):
        return "geometric_mean", tree.expressions[0].expressions
    raise Mistake("exp(...) is not an aggregate", "of exp only exp(avg(ln(x))), the geometric mean, is known")


def _is_call_of(tree: exp.Expr, *names: str) -> bool:
    return isinstance(tree, exp.Anonymous) and str(tree.this).lower() in names and len(tree.expressions) == 1


def canonical_all(tree: exp.Expr) -> list[str]:
    """Check and print the arguments of a function."""
    return [canonical(argument) for argument in tree.expressions]


def _check_arguments(aggregate: str, arguments: list[exp.Expr]) -> tuple[str, ...]:
    card = AGGREGATES[aggregate]
    most = card.arguments + bool(card.default) + card.optional
    if not card.arguments <= len(arguments) <= most:
        counts = f"{card.arguments} or {most}" if most > card.arguments else str(card.arguments)
        raise Mistake(f"{aggregate} has {len(arguments)} arguments", f"it takes {counts}")
    if aggregate == "count" and (isinstance(arguments[0], exp.Star) or _counts_rows(arguments[0])):
        return ("*",)
    if aggregate == "percentile_by_frequency":
        return canonical(arguments[0]), _shares(aggregate, arguments[1]), canonical(arguments[2])
    if aggregate.startswith("percentile"):
        accuracy = [_whole_number(aggregate, argument) for argument in arguments[2:]]
        return canonical(arguments[0]), _shares(aggregate, arguments[1]), *accuracy
    if aggregate == "approx_count_distinct" and len(arguments) == 2:
        _check_share(aggregate, arguments[1], LEAST_DEVIATION, MOST_DEVIATION)
    return tuple(canonical(argument) for argument in arguments)


def _shares(aggregate: str, tree: exp.Expr) -> str:
    """Return the share of a percentile, or array(...) of several."""
    if not (isinstance(tree, exp.Anonymous) and str(tree.this).lower() == "array" and tree.expressions):
        _check_share(aggregate, tree)
        return canonical(tree)
    for share in tree.expressions:
        _check_share(aggregate, share)
    return f"array({', '.join(canonical_all(tree))})"


def _whole_number(aggregate: str, tree: exp.Expr) -> str:
    if (
        not isinstance(tree, exp.Literal)
        or tree.is_string
        or not tree.name.isdigit()
        or not 0 < int(tree.name) < 1 << 31
    ):
        wrong = f"the accuracy of {aggregate} is {show(tree.sql('spark'))}"
        raise Mistake(wrong, "write a whole number from 1 on")
    return canonical(tree)


def _counts_rows(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Literal) and not tree.is_string


def _check_share(aggregate: str, tree: exp.Expr, least: float = 0, most: float = 1) -> None:
    try:
        share = float(tree.name) if isinstance(tree, exp.Literal) and not tree.is_string else -1.0
    except ValueError:
        share = -1.0
    if not least <= share <= most:
        wrong = f"the second argument of {aggregate} is {show(tree.sql('spark'))}"
        raise Mistake(wrong, f"write a number from {least} to {most}")
