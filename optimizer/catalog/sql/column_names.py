"""The name Spark itself gives a column that has no alias, so that results carry the names of the user's own SQL."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sqlglot import exp

from optimizer.catalog.sql.grammar import number_of

# functions that Spark prints in capitals, or under another name than the one they were called by
_CAPITALS = (
    "exp expm1 log10 log1p log2 signum sqrt cbrt ceil floor sin cos tan asin acos atan sinh cosh tanh degrees radians "
    "atan2 hypot power"
)
PRINTED: dict[str, str] = {name: name.upper() for name in _CAPITALS.split()}

# (name, number of arguments) -> how Spark prints it
SPECIAL: dict[tuple[str, int], str] = {
    ("isnull", 1): "({} IS NULL)",
    ("isnotnull", 1): "({} IS NOT NULL)",
    ("round", 1): "round({}, 0)",
    ("bround", 1): "bround({}, 0)",
    ("log", 1): "LOG(E(), {})",
    ("if", 3): "(IF({}))",
    ("ceil", 2): "ceil({})",
    ("floor", 2): "floor({})",
    ("substr", 2): "substr({}, 2147483647)",
    ("substring", 2): "substring({}, 2147483647)",
    ("percentile", 2): "percentile({}, 1)",
    ("percentile_approx", 2): "percentile_approx({}, 10000)",
    ("approx_percentile", 2): "approx_percentile({}, 10000)",
    ("array_agg", 1): "collect_list({})",
    ("listagg", 1): "listagg({}, NULL)",
    ("string_agg", 1): "string_agg({}, NULL)",
    ("hll_sketch_agg", 1): "hll_sketch_agg({}, 12)",
}

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
    """Return the name that Spark gives a column without an alias.

    >>> import sqlglot
    >>> spark_name(sqlglot.parse_one("a + 2 * b", dialect="spark"))
    '(a + (2 * b))'
    """
    tree = tree.unnest()
    if type(tree) in BINARY:
        return f"({spark_name(tree.this)} {BINARY[type(tree)]} {spark_name(tree.expression)})"
    printer = PRINTERS.get(type(tree))
    return printer(tree) if printer else tree.sql("spark")


def _list_names(trees: list[exp.Expr]) -> str:
    return ", ".join(map(spark_name, trees))


def _function(tree: Any) -> str:
    name = str(tree.this).lower()
    arguments = "1" if _is_star(tree) else _list_names(tree.expressions)
    special = SPECIAL.get((name, len(tree.expressions)))
    if special:
        return special.format(arguments)
    return f"{PRINTED.get(name, name)}({arguments})"


def _is_star(tree: Any) -> bool:
    return len(tree.expressions) == 1 and isinstance(tree.expressions[0], exp.Star)


def _case(tree: Any) -> str:
    base = spark_name(tree.this) if tree.this else ""
    arms = [(spark_name(arm.this), spark_name(arm.args["true"])) for arm in tree.args["ifs"]]
    whens = " ".join(f"WHEN {f'({base} = {when})' if base else when} THEN {then}" for when, then in arms)
    default = f" ELSE {spark_name(tree.args['default'])}" if tree.args.get("default") else ""
    return f"CASE {whens}{default} END"


def _cast(tree: Any) -> str:
    word = "TRY_CAST" if tree.args.get("safe") else "CAST"
    to = tree.args["to"].sql("spark").replace(", ", ",")
    if to.startswith("DECIMAL"):
        to = {"DECIMAL": "DECIMAL(10,0)"}.get(to, to if "," in to else to.replace(")", ",0)"))
    return f"{word}({spark_name(tree.this)} AS {to})"


def _literal(tree: Any) -> str:
    text = str(tree.name)
    if tree.is_string or "e" not in text.lower():
        return text if tree.is_string else text.rstrip(".")
    return java_double(float(text))


def java_double(value: float) -> str:
    """Return a double as Java prints it.

    >>> [java_double(value) for value in (0.5, 12.0, 1e7, 1.5e-5)]
    ['0.5', '12.0', '1.0E7', '1.5E-5']
    """
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return format(Decimal(repr(value)).normalize(), "f") + ("" if value % 1 else ".0")
    digits, exponent = f"{Decimal(repr(value)).normalize():E}".split("E")
    return f"{digits if '.' in digits else digits + '.0'}E{int(exponent)}"


def _within_group(tree: Any) -> str:
    (order,) = tree.expression.expressions
    direction = " DESC" if order.args.get("desc") else ""
    return f"{spark_name(tree.this)} WITHIN GROUP (ORDER BY {spark_name(order.this)}{direction})"


def _not(tree: Any) -> str:
    inner = tree.this.unnest()
    if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
        return f"({spark_name(inner.this)} IS NOT NULL)"
    return f"(NOT {spark_name(inner)})"


def _like(tree: Any) -> str:
    text = f"{spark_name(tree.this)} LIKE {spark_name(tree.expression)}"
    return f"(NOT {text})" if tree.args.get("negate") else text


def _ilike(tree: Any) -> str:
    text = f"ilike({_list_names([tree.this, tree.expression])})"
    return f"(NOT {text})" if tree.args.get("negate") else text


def _is(tree: Any) -> str:
    word = "IS" if isinstance(tree.expression, exp.Null) else "<=>"
    return f"({spark_name(tree.this)} {word} {spark_name(tree.expression)})"


PRINTERS: dict[type[exp.Expr], Callable[[Any], str]] = {
    exp.Anonymous: _function,
    exp.Column: lambda tree: ".".join(part.name for part in tree.parts),
    exp.Literal: _literal,
    exp.Boolean: lambda tree: "true" if tree.this else "false",
    exp.Null: lambda tree: "NULL",
    exp.Distinct: lambda tree: f"DISTINCT {_list_names(tree.expressions)}",
    exp.Neg: lambda tree: f"-{spark_name(tree.this)}" if number_of(tree) else f"(- {spark_name(tree.this)})",
    exp.BitwiseNot: lambda tree: f"~{spark_name(tree.this)}",
    exp.Not: _not,
    exp.NullSafeNEQ: lambda tree: f"(NOT ({spark_name(tree.this)} <=> {spark_name(tree.expression)}))",
    exp.Between: lambda tree: f"between({_list_names([tree.this, tree.args['low'], tree.args['high']])})",
    exp.DPipe: lambda tree: f"concat({_list_names([tree.this, tree.expression])})",
    exp.NEQ: lambda tree: f"(NOT ({spark_name(tree.this)} = {spark_name(tree.expression)}))",
    exp.In: lambda tree: f"({spark_name(tree.this)} IN ({_list_names(tree.expressions)}))",
    exp.Is: _is,
    exp.Like: _like,
    exp.ILike: _ilike,
    exp.Filter: lambda tree: f"{spark_name(tree.this)} FILTER (WHERE {spark_name(tree.expression.this)})",
    exp.WithinGroup: _within_group,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.TryCast: _cast,
}
