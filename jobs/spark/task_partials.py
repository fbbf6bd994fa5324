"""Partials as the tasks make them that read the events, before Spark brings equal groups of theirs together.

Spark aggregates twice: every task its own rows, then, after a shuffle, the same groups of all tasks. Slices of
different tasks hardly overlap, and the buckets merge partials anyway, so the first half is all that is needed of it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

ADAPTIVE = "spark.sql.adaptive.enabled"
FAST_GROUPS = "spark.sql.codegen.aggregate.fastHashMap.capacityBit"
# Spark settles the plan before it runs, and its faster table of groups holds a million of them: 16 MB in a task
WHILE_PLANNED = {ADAPTIVE: "false", FAST_GROUPS: "20"}
AGGREGATE, WRAPPERS, EXCHANGE = "HashAggregate", ("WholeStageCodegen", "InputAdapter"), "Exchange"


def before_shuffle(grouped: DataFrame) -> DataFrame:
    """Return the groups of every task, of a frame whose aggregates have one column each that is their value all along
    (sum, count, min, max); the frame itself where Spark's plan for it is another.

    Where Spark computes equal aggregates once, it has fewer columns: then its plan is another, too."""
    names = grouped.columns
    with _as_planned(grouped.sparkSession):
        partial = _partial_aggregate(grouped._jdf.queryExecution().executedPlan())
        if partial is None or partial.output().length() != len(names):
            return grouped
        rows = partial.execute()
    from pyspark.sql import DataFrame

    session = grouped.sparkSession
    tasks = DataFrame(session._jsparkSession.internalCreateDataFrame(rows, partial.schema(), False), session)
    kinds = [(field.dataType, column.dataType) for field, column in zip(grouped.schema, tasks.schema, strict=True)]
    return tasks.toDF(*names) if all(one == other for one, other in kinds) else grouped


def _partial_aggregate(plan: Any) -> Any:
    """Return the half of a physical plan that is below the shuffle between two aggregations; None where it has none."""
    final = _unwrapped(plan)
    below = _unwrapped(final.children().head()) if final.nodeName() == AGGREGATE else final
    if final.nodeName() != AGGREGATE or below.nodeName() != EXCHANGE:
        return None
    partial = below.children().head()
    return partial if _unwrapped(partial).nodeName() == AGGREGATE else None


def _unwrapped(plan: Any) -> Any:
    while plan.nodeName().startswith(WRAPPERS):
        plan = plan.children().head()
    return plan


@contextmanager
def _as_planned(session: SparkSession) -> Iterator[None]:
    before = {name: str(session.conf.get(name)) for name in WHILE_PLANNED}
    for name, value in WHILE_PLANNED.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            session.conf.set(name, value)
