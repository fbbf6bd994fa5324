"""Every aggregate a query may ask for, with its algebra as data.

A component is what a partial keeps; an aggregate is finished from one or more components. `spark` is the aggregate
as plain Spark SQL says it, the oracle of its answers: {x} and {y} are the arguments, {ts} the stream's time column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["distributive", "algebraic", "holistic"]


@dataclass(frozen=True)
class Component:
    """One mergeable piece of a partial."""

    name: str
    invertible: bool = False
    selective: bool = False


@dataclass(frozen=True)
class Need:
    """A component of an expression that an aggregate is finished from."""

    component: str
    expression: str = "{x}"


@dataclass(frozen=True)
class Aggregate:
    """An aggregate function: how many arguments it takes, what it is finished from, how Spark writes it."""

    name: str
    kind: Kind
    needs: tuple[Need, ...]
    spark: str
    arguments: int = 1
    aliases: tuple[str, ...] = ()

    @property
    def shared(self) -> bool:
        """Holistic aggregates have no partials of bounded size: they run unshared, on plain Spark."""
        return self.kind != "holistic"


COMPONENTS: dict[str, Component] = {
    component.name: component
    for component in (
        Component("count", invertible=True),
        Component("sum", invertible=True),
        Component("sum_squares", invertible=True),
        Component("product"),
        Component("min", selective=True),
        Component("max", selective=True),
        Component("bool_and"),
        Component("bool_or"),
        Component("bit_and"),
        Component("bit_or"),
        Component("first", selective=True),
        Component("last", selective=True),
        Component("argmin", selective=True),
        Component("argmax", selective=True),
        Component("moments"),  # count, mean and M2, merged as Chan et al. do: digits survive a large mean
    )
}


def _distributive(name: str, spark: str, arguments: int = 1, *aliases: str) -> Aggregate:
    return Aggregate(name, "distributive", (Need(name),), spark, arguments, aliases)


def _moments(name: str, *aliases: str) -> Aggregate:
    return Aggregate(name, "algebraic", (Need("moments", "cast({x} AS DOUBLE)"),), f"{name}({{x}})", 1, aliases)


def _holistic(name: str, arguments: int = 1, spark: str = "", *aliases: str) -> Aggregate:
    return Aggregate(name, "holistic", (), spark or f"{name}({{x}})", arguments, aliases)


AGGREGATES: dict[str, Aggregate] = {
    aggregate.name: aggregate
    for aggregate in (
        _distributive("count", "count({x})"),
        _distributive("sum", "sum({x})"),
        _distributive("sum_squares", "sum({x} * {x})"),
        # Spark's product is reachable from its DataFrame API only; this is the same fold in SQL, null of nulls only
        _distributive(
            "product", "if(count({x}) = 0, NULL, aggregate(collect_list(cast({x} AS DOUBLE)), 1D, (a, b) -> a * b))"
        ),
        _distributive("min", "min({x})"),
        _distributive("max", "max({x})"),
        _distributive("bool_and", "bool_and({x})", 1, "every"),
        _distributive("bool_or", "bool_or({x})", 1, "some", "any"),
        _distributive("bit_and", "bit_and({x})"),
        _distributive("bit_or", "bit_or({x})"),
        # first and last are by event time; Spark's own depend on the order rows happen to arrive in
        _distributive("first", "min_by({x}, {ts})"),
        _distributive("last", "max_by({x}, {ts})"),
        _distributive("argmax", "max_by({x}, {y})", 2, "max_by"),
        _distributive("argmin", "min_by({x}, {y})", 2, "min_by"),
        # summed as doubles, as Spark's avg does: an average of large integers does not overflow
        Aggregate(
            "avg",
            "algebraic",
            (Need("sum", "cast({x} AS DOUBLE)"), Need("count")),
            "avg({x})",
            aliases=("mean",),
        ),
        _moments("var_pop"),
        _moments("var_samp", "variance"),
        _moments("stddev_pop"),
        _moments("stddev_samp", "stddev", "std"),
        Aggregate("range", "algebraic", (Need("max"), Need("min")), "max({x}) - min({x})"),
        Aggregate(
            "geometric_mean",
            "algebraic",
            (Need("sum", "ln({x})"), Need("count", "ln({x})")),
            "exp(avg(ln({x})))",
        ),
        _holistic("median"),
        _holistic("mode"),
        _holistic("count_distinct", 1, "count(DISTINCT {x})"),
        _holistic("percentile", 2, "percentile({x}, {y})"),
        _holistic("percentile_approx", 2, "percentile_approx({x}, {y})", "approx_percentile"),
        _holistic("approx_count_distinct"),
        _holistic("skewness"),
        _holistic("kurtosis"),
    )
}
