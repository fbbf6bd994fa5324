"""Spark's result types, derived without Spark: of expressions, and of the aggregates over them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from sqlglot import exp

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.query import Query
from optimizer.catalog.spark_types.numbers import (
    DECIMAL,
    INTEGRAL,
    NUMERIC,
    UNKNOWN,
    arithmetic,
    decimal,
    numeric,
    wider,
)
from optimizer.catalog.sql.expressions import parse
from optimizer.catalog.sql.grammar import Number, number_of
from optimizer.errors import Mistake, did_you_mean, show

Rule = str | Callable[[list[str]], str]


def _words(text: str) -> list[str]:
    return text.split()


def _first(types: list[str]) -> str:
    return types[0]


def _widest(types: list[str]) -> str:
    return reduce(wider, types)


def _whole_type(types: list[str]) -> str:
    """ceil and floor give whole numbers; to a number of digits, their type depends on its value."""
    if len(types) > 1:
        return UNKNOWN
    return "bigint" if types[0] in NUMERIC else _without_scale(types[0])


def _rounded(types: list[str]) -> str:
    if types[0] in NUMERIC:
        return types[0]
    return _without_scale(types[0]) if len(types) == 1 else UNKNOWN


def _without_scale(kind: str) -> str:
    match = re.fullmatch(DECIMAL, kind)
    return decimal(int(match[1]) - int(match[2]) + 1, 0) if match else UNKNOWN


FUNCTION_TYPES: dict[str, Rule] = {
    **dict.fromkeys(_words("exp expm1 ln log log10 log1p log2 sign signum sqrt cbrt rint"), "double"),
    **dict.fromkeys(_words("sin cos tan asin acos atan sinh cosh tanh degrees radians"), "double"),
    **dict.fromkeys(("atan2", "hypot", "pow", "power"), "double"),
    **dict.fromkeys(("isnan", "isnull", "isnotnull", "startswith", "endswith", "contains"), "boolean"),
    **dict.fromkeys(_words("lower upper lcase ucase trim ltrim rtrim left right substring substr concat"), "string"),
    **dict.fromkeys(("length", "char_length", "bit_count"), "int"),
    **dict.fromkeys(_words("year quarter month day dayofmonth dayofweek dayofyear hour minute second"), "int"),
    **dict.fromkeys(("unix_seconds", "unix_millis", "unix_micros"), "bigint"),
    **dict.fromkeys(("greatest", "least", "coalesce", "nvl", "ifnull"), _widest),
    **dict.fromkeys(("abs", "nullif"), _first),
    **dict.fromkeys(("ceil", "ceiling", "floor"), _whole_type),
    **dict.fromkeys(("round", "bround"), _rounded),
    **dict.fromkeys(("mod", "pmod"), lambda types: arithmetic("Mod", *types)),
    **dict.fromkeys(("shiftleft", "shiftright"), lambda types: "bigint" if types[0] == "bigint" else "int"),
    "date_trunc": "timestamp",
    "nanvl": lambda types: "float" if types == ["float", "float"] else "double",
    "if": lambda types: _widest(types[1:]),
}


CASTS = {"TEXT": "string", "TIMESTAMPTZ": "timestamp", "TIMESTAMPNTZ": "timestamp_ntz"}


def result_type(query: Query, schema: Mapping[str, str]) -> str:
    """Return Spark's type of the query's answers, "unknown" where only Spark can tell.

    Arguments of a wrong type are refused.
    """
    if query.arguments == ("*",):
        return "bigint"
    constants = 1 if AGGREGATES[query.aggregate].takes_constants else len(query.arguments)
    types = [expression_type(argument, schema) for argument in query.arguments[:constants]]
    needs, finish = RESULTS[query.aggregate]
    for argument, kind in zip(query.arguments, types if query.aggregate in PAIRS else types[:1], strict=False):
        if kind != UNKNOWN and not needs(kind):
            wrong = f"{query.aggregate} of {show(argument)}, which is {kind}"
            raise Mistake(wrong, f"{query.aggregate} needs {NEEDS[needs]}", "select")
    of = types[-1 if query.aggregate == "regr_avgx" else 0]
    if of == UNKNOWN or finish(of) == UNKNOWN:
        return UNKNOWN
    return f"array<{finish(of)}>" if asks_several(query.aggregate, query.arguments) else finish(of)


def asks_several(aggregate: str, arguments: Sequence[str]) -> bool:
    """Say whether a percentile is asked for several shares at once, so that its answers are arrays.

    >>> asks_several("percentile", ("x", "array(0.25, 0.75)")), asks_several("median", ("x",))
    (True, False)
    """
    return AGGREGATES[aggregate].takes_constants and len(arguments) > 1 and arguments[1].startswith("array(")


def condition_type(text: str, schema: Mapping[str, str]) -> None:
    """Refuse a predicate that is not a condition."""
    kind = expression_type(text, schema)
    if kind not in ("boolean", UNKNOWN):
        raise Mistake(f"{show(text)} is {kind}", "a predicate is boolean", "where")


def expression_type(text: str, schema: Mapping[str, str]) -> str:
    """Return Spark's type of a canonical expression.

    >>> expression_type("x + 1", {"x": "bigint"}), expression_type("x / 2", {"x": "bigint"})
    ('bigint', 'double')
    """
    return _type(parse(text), schema)


def unknown_column(name: str, schema: Mapping[str, str]) -> Mistake:
    """Return the mistake of naming a column that the events do not have."""
    return Mistake(f"there is no column {show(name)}", did_you_mean(name, schema, f"columns: {', '.join(schema)}"))


def _type(tree: Any, schema: Mapping[str, str]) -> str:
    kind = type(tree)
    if kind is exp.Column:
        return _column(tree, schema)
    if kind is exp.Literal:
        return "string" if tree.is_string else Number(str(tree.name)).kind
    if kind in FIXED:
        for child in tree.iter_expressions():
            _type(child, schema)
        return FIXED[kind]
    rule = RULES.get(kind)
    return rule(tree, schema) if rule else UNKNOWN


def _column(tree: Any, schema: Mapping[str, str]) -> str:
    name = tree.parts[0].name
    if name not in schema:
        raise unknown_column(name, schema)
    return schema[name] if len(tree.parts) == 1 else UNKNOWN


def _arithmetic(tree: Any, schema: Mapping[str, str]) -> str:
    left, right = _type(tree.this, schema), _type(tree.expression, schema)
    left, right = _exact(tree.this, left, right), _exact(tree.expression, right, left)
    for kind in (left, right):
        if kind in ("string", "boolean", "binary"):
            raise Mistake(f"arithmetic with a {kind} in {show(tree.sql('spark'))}", "cast it to a number")
        if kind in ("float", "double") and isinstance(tree, exp.IntDiv):
            raise Mistake(f"DIV with a {kind} in {show(tree.sql('spark'))}", "cast it to a whole number")
    return arithmetic(type(tree).__name__, left, right)


def _negative(tree: Any, schema: Mapping[str, str]) -> str:
    number, kind = number_of(tree), _type(tree.this, schema)
    if number is None and kind == "string":
        raise Mistake(f"the minus before a string in {show(tree.sql('spark'))}", "cast it to a number")
    return number.kind if number else kind


def _exact(tree: Any, kind: str, other: str) -> str:
    """Give a whole number written beside a decimal just its own digits."""
    number = number_of(tree.unnest())
    exact = number is not None and kind in INTEGRAL and other.startswith("decimal")
    return decimal(len(number.digits.lstrip("0")) or 1, 0) if number and exact else kind


def _case(tree: Any, schema: Mapping[str, str]) -> str:
    if tree.this:
        _type(tree.this, schema)
    for arm in tree.args["ifs"]:
        _type(arm.this, schema)
    values = [arm.args["true"] for arm in tree.args["ifs"]] + [tree.args.get("default")]
    return reduce(wider, [_type(value, schema) for value in values if value is not None])


def _cast(tree: Any, schema: Mapping[str, str]) -> str:
    _type(tree.this, schema)
    to = tree.args["to"]
    if to.this.name == "DECIMAL":
        precision, scale = (*(int(param.this.name) for param in to.expressions), 10, 0)[:2]
        return decimal(precision, scale if len(to.expressions) > 1 else 0)
    name = str(to.this.name)
    return CASTS.get(name, name.lower())


def _function(tree: Any, schema: Mapping[str, str]) -> str:
    types = [_type(argument, schema) for argument in tree.expressions]
    rule = FUNCTION_TYPES.get(str(tree.this).lower(), UNKNOWN)
    return rule if isinstance(rule, str) else rule(types)


FIXED: dict[type[exp.Expr], str] = {
    **dict.fromkeys((exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is), "boolean"),
    **dict.fromkeys((exp.NullSafeEQ, exp.NullSafeNEQ, exp.In, exp.Like, exp.ILike, exp.Between), "boolean"),
    exp.Boolean: "boolean",
    exp.Null: "void",
    exp.DPipe: "string",
}
RULES: dict[type[exp.Expr], Callable[[Any, Mapping[str, str]], str]] = {
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv), _arithmetic),
    **dict.fromkeys((exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor), _arithmetic),
    **dict.fromkeys((exp.Paren, exp.BitwiseNot), lambda tree, schema: _type(tree.this, schema)),
    exp.Neg: _negative,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Anonymous: _function,
}


def _any(kind: str) -> bool:
    return True


def _integral(kind: str) -> bool:
    return kind in INTEGRAL


def _boolean(kind: str) -> bool:
    return kind == "boolean"


def _ordered(kind: str) -> bool:
    return numeric(kind) or kind in ("date", "timestamp", "timestamp_ntz")


NEEDS: dict[Callable[[str], bool], str] = {
    _any: "anything",
    numeric: "a number",
    _integral: "a whole number",
    _boolean: "a boolean",
    _ordered: "a number, a date or a timestamp",
}


def _same_type(kind: str) -> str:
    return kind


def _sum(kind: str) -> str:
    match = re.fullmatch(DECIMAL, kind)
    if match:
        return decimal(min(38, int(match[1]) + 10), int(match[2]))
    return "bigint" if kind in INTEGRAL else "double"


def _avg(kind: str) -> str:
    match = re.fullmatch(DECIMAL, kind)
    return f"decimal({min(38, int(match[1]) + 4)},{min(38, int(match[2]) + 4)})" if match else "double"


def _becomes(name: str) -> Callable[[str], str]:
    return lambda kind: name


_double = _becomes("double")
PAIRS = tuple(name for name, card in AGGREGATES.items() if card.needs and card.needs[0].component == "co_moments")
RESULTS: dict[str, tuple[Callable[[str], bool], Callable[[str], str]]] = {
    **dict.fromkeys(AGGREGATES, (numeric, _double)),
    **dict.fromkeys(("count", "count_distinct", "approx_count_distinct"), (_any, _becomes("bigint"))),
    **dict.fromkeys(("min", "max", "first", "last", "any_value", "argmax", "argmin", "mode"), (_any, _same_type)),
    **dict.fromkeys(("bool_and", "bool_or"), (_boolean, _same_type)),
    **dict.fromkeys(("bit_and", "bit_or", "bit_xor"), (_integral, _same_type)),
    **dict.fromkeys(("sum", "try_sum"), (numeric, _sum)),
    "sum_distinct": (numeric, _sum),
    "avg_distinct": (numeric, _avg),
    "regr_count": (numeric, _becomes("bigint")),
    "sum_squares": (numeric, lambda kind: _sum(arithmetic("Mul", kind, kind))),
    **dict.fromkeys(("avg", "try_avg", "regr_avgx", "regr_avgy"), (numeric, _avg)),
    "range": (numeric, lambda kind: arithmetic("Sub", kind, kind)),
    "percentile_approx": (_ordered, _same_type),
    **{name: (_any, _becomes(UNKNOWN)) for name, card in AGGREGATES.items() if not card.shared},
    "count_distinct_rows": (_any, _becomes("bigint")),
    "percentile_by_frequency": (numeric, _double),
}
