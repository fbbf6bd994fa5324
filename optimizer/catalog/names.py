"""The name Spark itself gives a column that has no alias, so that results carry the names of the user's own SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

# functions that Spark prints in capitals, or under another name than the one they were called by
_CAPITALS = (
    "exp expm1 log10 log1p log2 signum sqrt cbrt rint sin cos tan asin acos atan sinh cosh tanh degrees radians "
    "atan2 hypot"
)
PRINTED: dict[str, str] = {name: name.upper() for name in _CAPITALS.split()}

BINARY: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "div",
    exp.And: "AND",
    exp.Or: "OR",
    exp.EQ: "=",
    exp.NullSafeEQ: "<=>",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
}


def spark_name(tree: exp.Expr) -> str:
    """Spark's own name of an unnamed column."""
    tree = tree.unnest()
    if type(tree) in BINARY:
        return f"({spark_name(tree.this)} {BINARY[type(tree)]} {spark_name(tree.expression)})"
    printer = PRINTERS.get(type(tree))
    return printer(tree) if printer else tree.sql("spark")


def _listed(trees: list[exp.Expr]) -> str:
    return ", ".join(map(spark_name, trees))


def _function(tree: Any) -> str:
    name = str(tree.this).lower()
    arguments = "1" if _is_star(tree) else _listed(tree.expressions)
    return f"{PRINTED.get(name, name)}({arguments})"


def _is_star(tree: Any) -> bool:
    return len(tree.expressions) == 1 and isinstance(tree.expressions[0], exp.Star)


def _case(tree: Any) -> str:
    base = f" {spark_name(tree.this)}" if tree.this else ""
    arms = " ".join(f"WHEN {spark_name(arm.this)} THEN {spark_name(arm.args['true'])}" for arm in tree.args["ifs"])
    default = f" ELSE {spark_name(tree.args['default'])}" if tree.args.get("default") else ""
    return f"CASE{base} {arms}{default} END"


def _cast(tree: Any) -> str:
    word = "TRY_CAST" if tree.args.get("safe") else "CAST"
    return f"{word}({spark_name(tree.this)} AS {tree.args['to'].sql('spark')})"


PRINTERS: dict[type[exp.Expr], Callable[[Any], str]] = {
    exp.Anonymous: _function,
    exp.Column: lambda tree: ".".join(part.name for part in tree.parts),
    exp.Literal: lambda tree: str(tree.name),
    exp.Boolean: lambda tree: "true" if tree.this else "false",
    exp.Null: lambda tree: "NULL",
    exp.Distinct: lambda tree: f"DISTINCT {_listed(tree.expressions)}",
    exp.Neg: lambda tree: f"(- {spark_name(tree.this)})",
    exp.Not: lambda tree: f"(NOT {spark_name(tree.this)})",
    exp.NEQ: lambda tree: f"(NOT ({spark_name(tree.this)} = {spark_name(tree.expression)}))",
    exp.In: lambda tree: f"({spark_name(tree.this)} IN ({_listed(tree.expressions)}))",
    exp.Is: lambda tree: f"({spark_name(tree.this)} IS {spark_name(tree.expression)})",
    exp.Like: lambda tree: f"{spark_name(tree.this)} LIKE {spark_name(tree.expression)}",
    exp.Filter: lambda tree: f"{spark_name(tree.this)} FILTER (WHERE {spark_name(tree.expression.this)})",
    exp.Case: _case,
    exp.Cast: _cast,
    exp.TryCast: _cast,
}
