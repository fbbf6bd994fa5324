"""Streams, tables and trees as temporary views.

A tree's view has its slices by (keys, slice_start), with the tree's measures as columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from optimizer.algebra.aggregates import COMPONENTS
from optimizer.catalog.model.catalog import Catalog, window_call
from optimizer.catalog.model.query import Stream, Table
from optimizer.catalog.read.streams import sources_of
from optimizer.catalog.sql.expressions import free_name, quote
from optimizer.plan.definition import EVENTS, Measure, Plan, Tree
from optimizer.rewrite.partials import make_partial, merge_partials, slice_start, slice_window

SCHEMA = "schema"  # the one option that a view takes as its columns


@dataclass(frozen=True)
class Names:
    """The names of views and columns, all different from the user's own columns and sources."""

    slice: str
    window: str
    measures: Mapping[Measure, str]
    trees: Mapping[str, str]

    @classmethod
    def of(cls, plan: Plan, sources: Iterable[str]) -> Names:
        """Choose names for a plan over these streams and tables."""
        columns = {key.lower() for tree in plan.trees for key in tree.group_by}
        views = {source.lower() for source in sources}
        measures = sorted({measure for tree in plan.trees for measure in slice_measures(tree)})
        return cls(
            free_name("slice_start", columns),
            free_name("window_start", columns),
            {measure: free_name(f"{measure.component}_{n}", columns) for n, measure in enumerate(measures, 1)},
            {tree.id: free_name(f"{plan.stream}_{tree.id}", views) for tree in plan.trees},
        )


def count_passing(where: str) -> Measure:
    """Return the measure that counts the events that pass a predicate: Spark has no window in which none does.

    >>> count_passing("x > 3")
    Measure(component='count', arguments=('*',), where='x > 3')
    """
    return Measure("count", ("*",), where)


def slice_measures(tree: Tree) -> list[Measure]:
    """Return the measures of a tree's slices, and for every predicate the count of events that pass."""
    wheres = {measure.where for measure in tree.measures if measure.where}
    folded = (measure for measure in tree.measures if not COMPONENTS[measure.component].tally)  # a tally has no SQL
    return sorted({*folded, *map(count_passing, wheres)})


def tree_view(plan: Plan, tree: Tree, names: Names, time: str) -> str:
    """Return the statement that defines a tree's view, over the events or over the view of the tree that feeds it."""
    body = slices_sql(plan, tree, names, time)
    return f"CREATE OR REPLACE TEMPORARY VIEW {quote(names.trees[tree.id])} AS\n{body}"


def slices_sql(plan: Plan, tree: Tree, names: Names, time: str) -> str:
    """Return the statement that selects a tree's slices."""
    raw = tree.feed == EVENTS
    clock, source = (time, plan.stream) if raw else (names.slice, names.trees[tree.feed])
    keys = [quote(key) for key in tree.group_by]
    columns = [*keys, f"{slice_start(tree.edges(), clock)} AS {quote(names.slice)}"]
    for measure in slice_measures(tree):
        name = names.measures[measure]
        columns.append(f"{make_partial(measure, time) if raw else merge_partials(measure, name)} AS {quote(name)}")
    return select_sql(columns, source, _conditions(tree, time) if raw else "", [*keys, _group_by_slice(tree, clock)])


def _group_by_slice(tree: Tree, clock: str) -> str:
    """Return the slice in GROUP BY; a long expression by its place in the list, where no column can be in its way."""
    window = slice_window(tree.edges())
    return window_call(window, clock) if window else str(len(tree.group_by) + 1)


def _conditions(tree: Tree, time: str) -> str:
    """Leave out events without a time, which are in no window, and events that pass no predicate of the tree."""
    wheres = sorted({measure.where for measure in tree.measures})
    predicate = "" if "" in wheres else f" AND ({' OR '.join(f'({where})' for where in wheres)})"
    return f"{quote(time)} IS NOT NULL{predicate}"


def select_sql(
    columns: list[str], source: str, where: str, group_by: list[str], about: str = "", lateral: str = ""
) -> str:
    """Return a SELECT over several lines, with a comment that names the statement it is about.

    >>> print(select_sql(["key", "sum(x) AS s"], "events", "x > 0", ["key"]))
    SELECT
      key,
      sum(x) AS s
    FROM events
    WHERE x > 0
    GROUP BY key
    """
    lines = [f"SELECT{f' /* {about} */' if about else ''}", "  " + ",\n  ".join(columns), f"FROM {quote(source)}"]
    if lateral:
        lines.append(lateral)
    if where:
        lines.append(f"WHERE {where}")
    return "\n".join([*lines, f"GROUP BY {', '.join(group_by)}"])


def source_views(catalog: Catalog, stream: str) -> list[str]:
    """Return a statement for the stream, after those for the streams and tables that its SQL reads."""
    statements: dict[str, str] = {}
    _add_source(catalog, stream, statements)
    return list(statements.values())


def _add_source(catalog: Catalog, name: str, statements: dict[str, str]) -> None:
    source: Stream | Table = catalog.streams[name] if name in catalog.streams else catalog.tables[name]
    if name in statements:
        return
    if isinstance(source, Stream) and source.sql:
        for input_name in sources_of(source.sql):
            _add_source(catalog, input_name, statements)
        statements[name] = f"CREATE OR REPLACE TEMPORARY VIEW {quote(name)} AS\n{source.sql}"
    else:
        statements[name] = _reader(source)


def _reader(source: Stream | Table) -> str:
    if source.format == "iceberg":  # a table of the session's catalog, whose settings say where it is
        table = ".".join(map(quote, source.written.split(".")))
        return f"CREATE OR REPLACE TEMPORARY VIEW {quote(source.name)} AS\nSELECT * FROM {table}"
    columns = f" ({source.options[SCHEMA]})" if SCHEMA in source.options else ""
    options = {"path": source.path} | {key: text for key, text in source.options.items() if key != SCHEMA}
    option_list = ", ".join(f"{quote(key)} {quote_text(text)}" for key, text in options.items())
    view = f"{quote(source.name)}{columns}"
    return f"CREATE OR REPLACE TEMPORARY VIEW {view} USING {source.format} OPTIONS ({option_list})"


def quote_text(text: str) -> str:
    r"""Return a text as a literal of Spark SQL.

    >>> print(quote_text("it's"))
    'it\'s'
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
