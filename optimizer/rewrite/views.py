"""Trees as temporary views: slices by (keys, slice_start), with the tree's measures as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from optimizer.catalog.model.render import window_call
from optimizer.catalog.sql.expressions import quote
from optimizer.plan.definition import EVENTS, Measure, Plan, Tree
from optimizer.rewrite.partials import made, merged
from optimizer.rewrite.slicing import slice_start, slice_window


@dataclass(frozen=True)
class Names:
    """What things are called, none of them as a column or a source of the user's is."""

    slice: str
    measures: Mapping[Measure, str]
    trees: Mapping[str, str]

    @classmethod
    def of(cls, plan: Plan, sources: Iterable[str]) -> Names:
        """Names for a plan over these streams and tables."""
        columns = {key.lower() for tree in plan.trees for key in tree.group_by}
        views = {source.lower() for source in sources}
        measures = sorted({measure for tree in plan.trees for measure in held(tree)})
        return cls(
            _free("slice_start", columns),
            {measure: _free(f"{measure.component}_{n}", columns) for n, measure in enumerate(measures, 1)},
            {tree.id: _free(f"{plan.stream}_{tree.id}", views) for tree in plan.trees},
        )


def _free(name: str, taken: set[str]) -> str:
    while name.lower() in taken:
        name += "_"
    return name


def passing(where: str) -> Measure:
    """How many events pass a predicate: Spark has no window in which none does."""
    return Measure("count", ("*",), where)


def held(tree: Tree) -> list[Measure]:
    """The measures of a tree's slices, and for every predicate the events that pass."""
    wheres = {measure.where for measure in tree.measures if measure.where}
    return sorted({*tree.measures, *map(passing, wheres)})


def tree_view(plan: Plan, tree: Tree, names: Names, time: str) -> str:
    """The statement that defines a tree's view, over the events or over the view of the tree that feeds it."""
    raw = tree.feed == EVENTS
    clock, source = (time, plan.stream) if raw else (names.slice, names.trees[tree.feed])
    keys = [quote(key) for key in tree.group_by]
    columns = [*keys, f"{slice_start(tree.edges(), clock)} AS {quote(names.slice)}"]
    for measure in held(tree):
        name = names.measures[measure]
        columns.append(f"{made(measure, time) if raw else merged(measure, name)} AS {quote(name)}")
    body = select(columns, source, _conditions(tree, time) if raw else "", [*keys, _grouped(tree, clock)])
    return f"CREATE OR REPLACE TEMPORARY VIEW {quote(names.trees[tree.id])} AS\n{body}"


def _grouped(tree: Tree, clock: str) -> str:
    """The slice in GROUP BY; a long expression by its place in the list, where no column of that name is in its way."""
    window = slice_window(tree.edges())
    return window_call(window, clock) if window else str(len(tree.group_by) + 1)


def _conditions(tree: Tree, time: str) -> str:
    """Events without a time are in no window; events that pass no predicate of the tree make no slice."""
    wheres = sorted({measure.where for measure in tree.measures})
    passed = "" if "" in wheres else f" AND ({' OR '.join(f'({where})' for where in wheres)})"
    return f"{quote(time)} IS NOT NULL{passed}"


def select(columns: list[str], source: str, where: str, grouped: list[str], about: str = "") -> str:
    """A SELECT over several lines."""
    lines = [f"SELECT{f' /* {about} */' if about else ''}", "  " + ",\n  ".join(columns), f"FROM {quote(source)}"]
    if where:
        lines.append(f"WHERE {where}")
    return "\n".join([*lines, f"GROUP BY {', '.join(grouped)}"])
