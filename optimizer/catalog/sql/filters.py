"""FILTER as the arguments of aggregates have it: a CASE that is null for every other event.

Aggregates pass over nulls, so `sum(x) FILTER (WHERE p)` is `sum(CASE WHEN p THEN x END)`, and whoever writes the CASE
asks the same. A WHERE asks something else: it has no row for a window in which nothing passes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from sqlglot import exp

from optimizer.catalog.sql.expressions import expression, parse, print_tree


class Filtered(NamedTuple):
    """An argument that counts only where a predicate is true."""

    where: str
    argument: str


def add_filter(argument: str, where: str) -> str:
    """Return an argument that is null where a predicate is not true.

    >>> add_filter("*", "x > 1")
    'CASE WHEN x > 1 THEN 1 END'
    """
    return expression(f"CASE WHEN {where} THEN {'1' if argument == '*' else argument} END")


@lru_cache(maxsize=65_536)
def split_filter(argument: str) -> Filtered | None:
    """Return the predicate and the value of an argument that is null elsewhere; None for any other argument.

    >>> split_filter("if(x > 1, y, NULL)"), split_filter("CASE WHEN x > 1 THEN y ELSE 0 END")
    (Filtered(where='x > 1', argument='y'), None)
    """
    if not argument.startswith(("CASE WHEN ", "if(")):
        return None
    branches = _branches(parse(argument).unnest())
    if branches is None or isinstance(branches[1], exp.Null) or not isinstance(branches[2] or exp.Null(), exp.Null):
        return None
    return Filtered(print_tree(branches[0].unnest()), print_tree(branches[1].unnest()))


def split_count(argument: str) -> str:
    """Return the predicate whose events a sum counts, since it adds 1 for each and 0 for any other; "" for other sums.

    >>> split_count("CASE WHEN x > 1 THEN 1 ELSE 0 END"), split_count("CASE WHEN x > 1 THEN 1 END")
    ('x > 1', '')
    """
    if not argument.startswith(("CASE WHEN ", "if(")):
        return ""
    branches = _branches(parse(argument).unnest())
    if branches is None or branches[2] is None or [branch.sql() for branch in branches[1:] if branch] != ["1", "0"]:
        return ""
    return print_tree(branches[0].unnest())


@lru_cache(maxsize=65_536)
def both_pass(where: str, other: str) -> str:
    """Return the predicate that both of two pass; "" stands for none.

    >>> both_pass("a OR b", "c"), both_pass("", "c")
    ('(a OR b) AND c', 'c')
    """
    if not where or not other:
        return where or other
    return print_tree(exp.And(this=parse(where), expression=parse(other)))


def _branches(tree: exp.Expr) -> tuple[exp.Expr, exp.Expr, exp.Expr | None] | None:
    """Return the condition of a CASE or an IF, the value where it is true, and the value elsewhere."""
    if isinstance(tree, exp.Anonymous) and str(tree.this).lower() == "if" and len(tree.expressions) == 3:
        condition, value, default = tree.expressions
        return condition, value, default
    if isinstance(tree, exp.Case) and tree.this is None and len(tree.args["ifs"]) == 1:
        only = tree.args["ifs"][0]
        return only.this, only.args["true"], tree.args.get("default")
    return None
