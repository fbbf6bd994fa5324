"""The measures of a query's shape; apart from the plan's definition, which `import optimizer` loads without Arrow."""

from __future__ import annotations

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.query import Query
from optimizer.catalog.model.table import Shape
from optimizer.plan.definition import Measure


def measures_of(shape: Shape | Query) -> list[Measure]:
    """Return what the partials must hold to answer a query of this shape."""
    first, *rest = shape.arguments
    return [
        Measure(need.component, (need.expression.replace("{x}", first), *rest), shape.where)
        for need in AGGREGATES[shape.aggregate].needs
    ]
