"""Conditions on a statement's rows, as HAVING has them: over the columns that it selects."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from optimizer.catalog.model.query import ColumnKind
from optimizer.catalog.read.selects import Selected, selected
from optimizer.catalog.sql.expressions import AGGREGATE_NAMES, canonical, parse
from optimizer.errors import Mistake, show

VALUE = "value"  # the aggregate of a statement that has one
Columns = Sequence[
    tuple[str, str | int, ColumnKind]
]  # name; a group-by column, a part of the window, or an index of `selected`; which of these


def bind_condition(text: str, aggregates: Sequence[Selected], columns: Columns) -> str:
    """Return a condition over the names of a statement's columns; aggregates in it become the columns that hold them.

    >>> columns = [("k", "k", "key"), ("peak", 0, "answer")]
    >>> bind_condition("max(x) > 90 AND k <> 'a'", [Selected("max", ("x",), "peak")], columns)
    "peak > 90 AND k <> 'a'"
    """
    if not text:
        return ""
    names = {name.lower(): name for name, _, kind in columns if kind != "window"}
    if len(aggregates) == 1:
        names.setdefault(VALUE, aggregates[0].name)
    tree = _replace_aggregates(parse(text), {(one.aggregate, one.arguments): one.name for one in aggregates})
    for column in list(tree.find_all(exp.Column)):
        if column.args.get("table") or column.name.lower() not in names:
            right = f"it may name {', '.join(dict.fromkeys(names.values()))}; select what else it needs"
            raise Mistake(f"{show(column.sql('spark'))} is no column of the answer", right)
        column.set("this", exp.to_identifier(names[column.name.lower()], quoted=True))
    return canonical(tree)


def _replace_aggregates(tree: exp.Expr, names: dict[tuple[str, tuple[str, ...]], str]) -> exp.Expr:
    def replace(node: exp.Expr) -> exp.Expr:
        called = node.this if isinstance(node, exp.Filter) else node
        if not isinstance(called, exp.Anonymous) or str(called.this).lower() not in AGGREGATE_NAMES:
            return node
        aggregate = selected(node)
        if aggregate[:2] not in names:
            raise Mistake(f"{show(node.sql('spark'))} is not selected", "select it, too")
        return exp.column(exp.to_identifier(names[aggregate[:2]], quoted=True))

    return tree.transform(replace)
