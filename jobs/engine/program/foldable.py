"""Which queries the kernels can fold: those whose values become numbers. Plain Spark answers the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from jobs.engine.program.definition import BY_TIME, answer_type, inputs_of, label_of
from jobs.engine.program.spark_types import Unfoldable, coding_of
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Query
from optimizer.plan.definition import Plan
from optimizer.plan.measures import measures_of

Types = Mapping[str, pa.DataType]


def foldable(query: Query, types: Types) -> bool:
    """Whether partials can hold a query's values, as far as their types are known."""
    if label_of(query) in types:  # then Spark told the type of its answers, since nobody else can
        return False
    measures = measures_of(query)
    if not all(sql in types for measure in measures for sql in inputs_of(measure)):
        return True
    try:
        answer_type(query, types)
        for measure in measures:
            if measure.component not in ("count", *BY_TIME) and inputs_of(measure):
                coding_of(types[inputs_of(measure)[-1]])
    except Unfoldable:
        return False
    return True


def woven(catalog: Catalog, plan: Plan, types: Types) -> Plan:
    """The plan, with the queries that cannot be folded (their values are decimals, say) among the unshared ones."""
    if all(_codable(kind) and "@" not in name for name, kind in types.items()):  # "@": the label of a query
        return plan
    queries = {str(id) for tree in plan.trees for id in tree.queries}
    apart = {id for id in queries if not foldable(catalog.query(id), types)}
    trees = (replace(tree, queries=[id for id in tree.queries if str(id) not in apart]) for tree in plan.trees)
    return replace(plan, trees=tuple(trees), unshared=(*plan.unshared, *sorted(apart)))


def _codable(kind: pa.DataType) -> bool:
    try:
        coding_of(kind)
    except Unfoldable:
        return False
    return True
