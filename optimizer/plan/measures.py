"""The measures of a query's shape; apart from the plan's definition, which `import optimizer` loads without Arrow."""

from __future__ import annotations

import re

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.query import Query
from optimizer.catalog.model.table import Shape
from optimizer.catalog.sql.filters import both_pass, split_filter
from optimizer.plan.definition import Measure

BY_TIME = (
    "first",
    "last",
    "any_value",
)  # what they order by is no argument, so a null argument is an answer like any other


def measures_of(shape: Shape | Query) -> list[Measure]:
    """Return what the partials must hold to answer a query of this shape; a FILTER is a predicate of its measures."""
    arguments, where = _without_filter(shape)
    places = {"y": AGGREGATES[shape.aggregate].default} | dict(zip("xy", arguments, strict=False))
    return [
        Measure(need.component, tuple(_fill(text, places) for text in need.expressions), where)
        for need in AGGREGATES[shape.aggregate].needs
    ]


def _fill(text: str, places: dict[str, str]) -> str:
    """Put the arguments into their places, all at once: one may hold what looks like the place of another."""
    return re.sub(r"\{([xy])\}", lambda place: places[place[1]], text)


def demands_of(shape: Shape | Query) -> list[Measure]:
    """Return all measures that a query of this shape asks of a tree.

    Beside those that its answers are made from, a query with a FILTER asks for the count of the events that its WHERE
    lets pass: it has a row for every window that holds one of them, whether or not that passes the FILTER."""
    measures = measures_of(shape)
    every = Measure("count", ("*",), shape.where)
    has_filter = any(measure.where != shape.where for measure in measures)
    return [*measures, every] if has_filter and every not in measures else measures


def _without_filter(shape: Shape | Query) -> tuple[tuple[str, ...], str]:
    """Return the arguments and the predicate of a shape; a FILTER in what it is of becomes part of the latter."""
    arguments, where = list(shape.arguments), shape.where
    place = 0 if AGGREGATES[shape.aggregate].takes_constants else -1
    while shape.aggregate not in BY_TIME and (filtered := split_filter(arguments[place])):
        arguments[place], where = filtered.argument, both_pass(where, filtered.where)
    if shape.aggregate == "count" and arguments[0].isdigit():
        arguments = ["*"]
    return tuple(arguments), where
