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
    tally: bool = False  # of no fixed size: sorted codes with a number each, which only whole columns are made of


@dataclass(frozen=True)
class Need:
    """A component that an aggregate is finished from, and the expressions of its arguments that it is of."""

    component: str
    expressions: tuple[str, ...] = ("{x}",)


@dataclass(frozen=True)
class Aggregate:
    """An aggregate function: how many arguments it takes, what it is finished from, how Spark writes it.

    {arguments} in what Spark writes stands for all of them."""

    name: str
    kind: Kind
    needs: tuple[Need, ...]
    spark: str
    arguments: int = 1
    aliases: tuple[str, ...] = ()
    default: str = ""  # of one more argument, which may be left out
    optional: int = 0  # arguments that may follow the others

    @property
    def takes_constants(self) -> bool:
        """Whether all arguments but the first are constants."""
        return self.kind == "holistic"

    @property
    def shared(self) -> bool:
        """Whether it has partials; without any, it runs unshared, on plain Spark."""
        return bool(self.needs)


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
        Component("bit_xor"),
        Component("first", selective=True),
        Component("last", selective=True),
        Component("argmin", selective=True),
        Component("argmax", selective=True),
        Component("moments"),  # count, mean and M2, merged as Chan et al. do: digits survive a large mean
        Component("central_moments"),  # the same with M3 and M4
        Component("registers", tally=True),  # of HyperLogLog++: the largest rank that each has met
        Component("value_counts", tally=True),  # every value, and how often it stands there
        Component("co_moments"),  # count, both means, the co-moment and both M2 of pairs without a null
    )
}


ARGUMENTS = ("{x}", "{y}")
DOUBLES = ("cast({x} AS DOUBLE)", "cast({y} AS DOUBLE)")
# summed as doubles, as Spark's avg does: an average of large integers does not overflow
SUM_AND_COUNT = (Need("sum", (DOUBLES[0],)), Need("count"))


def _distributive(name: str, spark: str, arguments: int = 1, *aliases: str) -> Aggregate:
    return Aggregate(name, "distributive", (Need(name, ARGUMENTS[:arguments]),), spark, arguments, aliases)


def _moments(name: str, *aliases: str, component: str = "moments") -> Aggregate:
    return Aggregate(name, "algebraic", (Need(component, (DOUBLES[0],)),), f"{name}({{x}})", 1, aliases)


def _co_moments(name: str, *needs: Need) -> Aggregate:
    """Say an aggregate of pairs: {x} is the first argument, which regr_* calls the dependent variable y."""
    return Aggregate(name, "algebraic", (Need("co_moments", DOUBLES), *needs), f"{name}({{x}}, {{y}})", 2)


def _values(name: str, spark: str, arguments: int = 1, *aliases: str) -> Aggregate:
    """Say an aggregate of value counts; its second argument is a constant."""
    return Aggregate(name, "holistic", (Need("value_counts"),), spark, arguments, aliases)


def _unshared(name: str, *aliases: str, arguments: int = 1, optional: int = 0, spark: str = "") -> Aggregate:
    """Say an aggregate that has no partials here: plain Spark answers it. Its second argument is a constant."""
    call = f"{spark or name}({{arguments}})"
    return Aggregate(name, "holistic", (), call, arguments, aliases, optional=optional)


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
        _distributive("bit_xor", "bit_xor({x})"),
        # first and last are by event time; Spark's own depend on the order rows happen to arrive in
        _distributive("first", "min_by({x}, {ts})"),
        _distributive("last", "max_by({x}, {ts})"),
        _distributive("argmax", "max_by({x}, {y})", 2, "max_by"),
        _distributive("argmin", "min_by({x}, {y})", 2, "min_by"),
        Aggregate("avg", "algebraic", SUM_AND_COUNT, "avg({x})", aliases=("mean",)),
        Aggregate("try_avg", "algebraic", SUM_AND_COUNT, "try_avg({x})"),
        Aggregate("try_sum", "distributive", (Need("sum"),), "try_sum({x})"),
        # any value will do, so it is the first: it shares its partials
        Aggregate("any_value", "distributive", (Need("first"),), "min_by({x}, {ts})"),
        _moments("var_pop"),
        _moments("var_samp", "variance"),
        _moments("stddev_pop"),
        _moments("stddev_samp", "stddev", "std"),
        _moments("skewness", component="central_moments"),
        _moments("kurtosis", component="central_moments"),
        _co_moments("covar_pop"),
        _co_moments("covar_samp"),
        _co_moments("corr"),
        _co_moments("regr_count"),
        # the type of an average is its argument's to tell: of decimals it is a decimal
        _co_moments("regr_avgx", Need("count", ("{y}",))),
        _co_moments("regr_avgy", Need("count", ("{x}",))),
        _co_moments("regr_sxx"),
        _co_moments("regr_syy"),
        _co_moments("regr_sxy"),
        _co_moments("regr_slope"),
        _co_moments("regr_intercept"),
        _co_moments("regr_r2"),
        Aggregate("range", "algebraic", (Need("max"), Need("min")), "max({x}) - min({x})"),
        Aggregate(
            "geometric_mean",
            "algebraic",
            (Need("sum", ("ln({x})",)), Need("count", ("ln({x})",))),
            "exp(avg(ln({x})))",
        ),
        _values("sum_distinct", "sum(DISTINCT {x})"),
        _values("avg_distinct", "avg(DISTINCT {x})"),
        _values("median", "median({x})"),
        _values("mode", "mode({x})"),
        _values("count_distinct", "count(DISTINCT {x})"),
        _values("percentile", "percentile({x}, {y})", 2),
        _values("percentile_cont", "percentile_cont({y}) WITHIN GROUP (ORDER BY {x})", 2),
        _values("percentile_disc", "percentile_disc({y}) WITHIN GROUP (ORDER BY {x})", 2),
        _values("percentile_cont_desc", "percentile_cont({y}) WITHIN GROUP (ORDER BY {x} DESC)", 2),
        _values("percentile_disc_desc", "percentile_disc({y}) WITHIN GROUP (ORDER BY {x} DESC)", 2),
        Aggregate(
            "percentile_approx",
            "holistic",
            (Need("value_counts"),),
            "percentile_approx({arguments})",
            2,
            ("approx_percentile",),
            optional=1,
        ),
        Aggregate(
            "approx_count_distinct",
            "holistic",
            (Need("registers", ARGUMENTS),),
            "approx_count_distinct({x}, {y})",
            default="0.05",
        ),
        Aggregate("count_distinct_rows", "holistic", (), "count(DISTINCT {arguments})", 2, optional=8),
        _unshared("percentile_by_frequency", arguments=3, spark="percentile"),
        _unshared("collect_list", "array_agg"),
        _unshared("collect_set"),
        _unshared("listagg", "string_agg", optional=1),
        _unshared("histogram_numeric", arguments=2),
        _unshared("hll_sketch_agg", optional=1),
        _unshared("bitmap_construct_agg"),
        _unshared("count_min_sketch", arguments=4),
    )
}
