"""`heddle.run`: queries over a table of a Python program; no folder, no YAML, the same engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from optimizer.catalog.model.catalog import Catalog
    from optimizer.plan.definition import Plan

Queries = Mapping[str, Any] | Sequence[Any] | str


def run(events: Any, queries: Queries, time: str = "", folder: str = "") -> dict[str, Any]:
    """Answer queries over a pandas, polars or Arrow table, or a Spark DataFrame; return an answer of its kind for each.

    A query is Spark SQL, or a mapping of the fields that a catalog has (`select`, `range`, `slide`, `where`,
    `group_by`; then `time` names the time column). They are named by their keys, or q1, q2 ... in a list. All windows
    are closed at the end of the events. Answers of a Spark DataFrame are kept in `folder`, by default a temporary one.

    >>> import pandas as pd
    >>> minutes = pd.DataFrame({"ts": pd.date_range("2026-01-01", periods=4, freq="min"), "x": [3, 1, 4, 1]})
    >>> peaks = run(minutes, "SELECT window.start AS at, max(x) AS peak FROM t GROUP BY window(ts, '2 minutes')")
    >>> peaks["q1"].peak.tolist()
    [3, 4]
    """
    from optimizer.catalog.read.load import inline_catalog

    catalog = inline_catalog(queries, time)
    if _library(events) == "pyspark":
        from jobs.runs.frames import run_frame

        return run_frame(catalog, events, folder)
    from jobs.runs.frames import run_table

    answers = run_table(catalog, _arrow_table(events, catalog))
    return {name: _like(events, table) for name, table in answers.items()}


def explain(events: Any, queries: Queries, time: str = "") -> Plan:
    """Plan queries over a table and return the plan, which prints why it is good; nothing is evaluated."""
    from optimizer.catalog.read.load import inline_catalog

    catalog = inline_catalog(queries, time)
    if _library(events) == "pyspark":
        from jobs.runs.frames import plan_frame

        return plan_frame(catalog, events)
    from jobs.runs.frames import plan_table

    return plan_table(catalog, _arrow_table(events, catalog))


def _library(events: Any) -> str:
    return type(events).__module__.partition(".")[0]


def _arrow_table(events: Any, catalog: Catalog) -> pa.Table:
    """Return the columns that the queries read as an Arrow table, in Spark's types."""
    import pyarrow as pa

    from jobs.runs.frames import as_spark_reads, columns_read
    from optimizer.errors import HeddleError

    if not hasattr(events, "__arrow_c_stream__") and _library(events) != "pandas":
        raise HeddleError(
            f"events are a {type(events).__name__}; give a table of pandas, polars or Arrow, or a Spark DataFrame"
        )
    if _library(events) not in ("pandas", "polars"):
        events = pa.table(events)
    read = columns_read(catalog)
    names = events.column_names if isinstance(events, pa.Table) else list(events.columns)
    columns = [name for name in names if name in read]
    twice = [name for number, name in enumerate(columns) if name in columns[:number]]
    if twice:
        raise HeddleError(f"the events have two columns called {twice[0]}; rename one of them")
    if _library(events) == "pandas":
        others = len(set(names)) < len(names)  # which pyarrow refuses; to select columns copies them
        events = pa.Table.from_pandas(events[columns] if others else events, columns=columns, preserve_index=False)
    return as_spark_reads(pa.table(events.select(columns)))


def _like(events: Any, answers: pa.Table) -> Any:
    """Return answers as the kind of table that the events are; in pandas, a window is two columns."""
    match _library(events):
        case "pandas":
            return answers.flatten().to_pandas()
        case "polars":
            import polars

            return polars.from_arrow(answers)
        case _:
            return answers
