"""What a query's definition says without its events: its label, the type of its answers, whether it can be folded."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Mapping
from dataclasses import replace

import pyarrow as pa

from jobs.engine.program.spark_types import Unfoldable, coding_of, list_of, require_plain, result_type
from optimizer.algebra.aggregates import AGGREGATES, COMPONENTS
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Query
from optimizer.catalog.spark_types.results import asks_several
from optimizer.plan.definition import Measure, Plan
from optimizer.plan.measures import measures_of
from optimizer.windows.window import Window

COUNT_ALL = ("*",)
BY_TIME = ("first", "last")
AVERAGES = ("avg", "try_avg")  # finished from a sum and a count
ADDING = ("sum", "sum_squares")


def align(window: Window) -> Window:
    """Return the window with its smallest offset: offsets that differ by whole slides name the same windows.

    >>> align(Window(range=10, slide=5, offset=7)).offset
    2
    """
    return replace(window, offset=window.offset % window.slide)


def label_of(query: Query) -> str:
    """Return what result files call a query: an answer belongs to a query as it was defined, not just to its id."""
    window = align(query.window)
    clock = (window.range, window.slide, window.offset, window.rows)
    definition = (clock, query.aggregate, query.arguments, query.where, query.group_by)
    return f"{query.id}@{hashlib.sha256(repr(definition).encode()).hexdigest()[:12]}"


def inputs_of(measure: Measure) -> list[str]:
    """Return the expressions a measure folds: what is compared or added up comes last, what is carried before it."""
    if measure.arguments == COUNT_ALL:
        return []
    if measure.component == "sum_squares":
        return [f"({measure.arguments[0]}) * ({measure.arguments[0]})"]
    if measure.component == "product":
        return [f"cast({measure.arguments[0]} AS DOUBLE)"]
    return list(measure.arguments[:1] if measure.component == "registers" else measure.arguments)


def add_decimals(query: Query, measures: list[Measure], types: Mapping[str, pa.DataType]) -> list[Measure]:
    """Return the measures of a query, where an average adds decimals as such, and other numbers as doubles."""
    if query.aggregate not in AVERAGES:
        return measures
    total, count, *others = measures
    kind = types.get(count.arguments[0])
    if kind is None or not pa.types.is_decimal(kind):
        return measures
    return [replace(total, arguments=count.arguments), count, *others]


def shares_of(query: Query) -> tuple[float, ...]:
    """Return the constants of a percentile: which shares of a window's values lie below its answers."""
    if query.aggregate == "median":
        return (0.5,)
    if not query.aggregate.startswith("percentile"):
        return ()
    shares = query.arguments[1]
    return tuple(map(float, shares.removeprefix("array(").removesuffix(")").split(",")))


def typed_by(query: Query, types: Container[str]) -> list[str]:
    """Return whose types give the type of a query's answers: its expressions, or, on plain Spark, its own label."""
    if not AGGREGATES[query.aggregate].shared or label_of(query) in types:
        return [label_of(query)]
    return [sql for measure in measures_of(query) for sql in inputs_of(measure)]


def answer_type(query: Query, types: Mapping[str, pa.DataType]) -> pa.DataType:
    """Return the type of the query's answers, from the types of its expressions."""
    if not AGGREGATES[query.aggregate].shared or label_of(query) in types:
        return types[label_of(query)]
    measures = measures_of(query)
    argument = inputs_of(measures[-1])  # an average sums a cast, and then counts the argument
    kind = result_type(query.aggregate, [types[sql] for sql in argument])
    return list_of(kind) if asks_several(query.aggregate, query.arguments) else kind


Types = Mapping[str, pa.DataType]


def is_foldable(query: Query, types: Types) -> bool:
    """Return whether partials can hold a query's values, as far as `types` has their types."""
    if label_of(query) in types:  # then the type of its answers came from Spark, since nobody else has it
        return False
    measures = add_decimals(query, measures_of(query), types)
    if not all(sql in types for measure in measures for sql in inputs_of(measure)):
        return True
    try:
        answer_type(query, types)
        for measure in measures:
            if COMPONENTS[measure.component].tally:
                require_plain(types[inputs_of(measure)[0]])
            elif measure.component not in ("count", *BY_TIME) and inputs_of(measure):
                coding_of(types[inputs_of(measure)[-1]], measure.component in ADDING)
    except Unfoldable:
        return False
    return True


def move_unfoldable(catalog: Catalog, plan: Plan, types: Types) -> Plan:
    """Return the plan with the queries that cannot be folded (their values are intervals, say) as unshared ones."""
    if all(_is_plain(kind) and "@" not in name for name, kind in types.items()):  # "@": the label of a query
        return plan
    queries = {str(id) for tree in plan.trees for id in tree.queries}
    unfoldable = {id for id in queries if not is_foldable(catalog.query(id), types)}
    trees = (replace(tree, queries=[id for id in tree.queries if str(id) not in unfoldable]) for tree in plan.trees)
    return replace(plan, trees=tuple(trees), unshared=(*plan.unshared, *sorted(unfoldable)))


def _is_plain(kind: pa.DataType) -> bool:
    """Return whether values of a type can be folded by every aggregate that takes them."""
    if pa.types.is_decimal(kind):
        return False
    try:
        coding_of(kind)
    except Unfoldable:
        return False
    return True
