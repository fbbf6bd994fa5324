"""From what a window's slices hold to the user's aggregate, null where Spark's own is null."""

from __future__ import annotations

from collections.abc import Mapping

from optimizer.catalog.model.query import Query
from optimizer.plan.definition import Measure
from optimizer.plan.measures import measures_of
from optimizer.rewrite.partials import folded

FINALS: dict[str, str] = {  # {0}, {1}: the folded measures in the order the aggregate needs them
    "avg": "{0} / nullif({1}, 0)",
    "range": "{0} - {1}",
    "geometric_mean": "exp({0} / nullif({1}, 0))",
}
FINISHED_MOMENTS: dict[str, str] = {
    "var_pop": "if(m.n = 0, NULL, m.m2 / m.n)",
    "var_samp": "if(m.n < 2, NULL, m.m2 / (m.n - 1))",
    "stddev_pop": "if(m.n = 0, NULL, sqrt(m.m2 / m.n))",
    "stddev_samp": "if(m.n < 2, NULL, sqrt(m.m2 / (m.n - 1)))",
}


def final(query: Query, names: Mapping[Measure, str]) -> str:
    """The query's aggregate, from the columns of the slices."""
    parts = [folded(measure, names[measure]) for measure in measures_of(query)]
    if query.aggregate in FINISHED_MOMENTS:
        return parts[0].replace("{finish}", FINISHED_MOMENTS[query.aggregate])
    return FINALS.get(query.aggregate, "{0}").format(*parts)
