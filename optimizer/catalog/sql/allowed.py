"""The allow list: what an expression of a catalog may be made of. What is not here never reaches Spark."""

from __future__ import annotations

from sqlglot import exp

# node -> the parts of it that may be filled; a part that is not named here must be empty
NODES: dict[type[exp.Expr], frozenset[str]] = {
    node: frozenset(parts)
    for node, parts in (
        (exp.Column, ("this", "table")),
        (exp.Identifier, ("this", "quoted")),
        (exp.Literal, ("this", "is_string")),
        (exp.Boolean, ("this",)),
        (exp.Null, ()),
        (exp.Paren, ("this",)),
        (exp.Anonymous, ("this", "expressions")),
        (exp.And, ("this", "expression")),
        (exp.Or, ("this", "expression")),
        (exp.Not, ("this",)),
        (exp.EQ, ("this", "expression")),
        (exp.NEQ, ("this", "expression")),
        (exp.NullSafeEQ, ("this", "expression")),
        (exp.NullSafeNEQ, ("this", "expression")),
        (exp.GT, ("this", "expression")),
        (exp.GTE, ("this", "expression")),
        (exp.LT, ("this", "expression")),
        (exp.LTE, ("this", "expression")),
        (exp.Is, ("this", "expression")),
        (exp.Between, ("this", "low", "high")),
        (exp.In, ("this", "expressions")),
        (exp.Like, ("this", "expression", "negate")),
        (exp.ILike, ("this", "expression", "negate")),
        (exp.Add, ("this", "expression")),
        (exp.Sub, ("this", "expression")),
        (exp.Mul, ("this", "expression")),
        (exp.Div, ("this", "expression", "typed", "safe")),
        (exp.IntDiv, ("this", "expression")),
        (exp.Mod, ("this", "expression")),
        (exp.Neg, ("this",)),
        (exp.BitwiseAnd, ("this", "expression")),
        (exp.BitwiseOr, ("this", "expression")),
        (exp.BitwiseXor, ("this", "expression")),
        (exp.BitwiseNot, ("this",)),
        (exp.DPipe, ("this", "expression", "safe")),
        (exp.Case, ("this", "ifs", "default")),
        (exp.If, ("this", "true", "false")),
        (exp.Cast, ("this", "to", "_type")),
        (exp.TryCast, ("this", "to", "safe", "_type")),
        (exp.DataType, ("this", "expressions")),
        (exp.DataTypeParam, ("this",)),
    )
}


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


TYPES: frozenset[str] = frozenset(
    _words("BOOLEAN TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL TEXT DATE TIMESTAMP TIMESTAMPTZ TIMESTAMPNTZ")
)

# name -> the numbers of arguments it takes; all of them deterministic and blind to anything but their arguments
FUNCTIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(_words("abs ceiling exp expm1 ln log10 log1p log2 sign signum sqrt cbrt rint"), (1, 1)),
    **dict.fromkeys(_words("sin cos tan asin acos atan sinh cosh tanh degrees radians"), (1, 1)),
    **dict.fromkeys(_words("isnan isnull isnotnull bit_count"), (1, 1)),
    **dict.fromkeys(_words("lower upper lcase ucase length char_length trim ltrim rtrim"), (1, 1)),
    **dict.fromkeys(_words("year quarter month day dayofmonth dayofweek dayofyear hour minute second"), (1, 1)),
    **dict.fromkeys(_words("unix_seconds unix_millis unix_micros"), (1, 1)),
    **dict.fromkeys(_words("atan2 hypot pow power mod pmod nullif nvl ifnull nanvl"), (2, 2)),
    **dict.fromkeys(_words("startswith endswith contains left right shiftleft shiftright date_trunc"), (2, 2)),
    **dict.fromkeys(_words("ceil floor round bround log"), (1, 2)),
    **dict.fromkeys(_words("substring substr"), (2, 3)),
    **dict.fromkeys(_words("greatest least"), (2, 100)),
    **dict.fromkeys(_words("coalesce concat"), (1, 100)),
    "if": (3, 3),
}

# columns that Spark answers by itself when the events have none of that name
HIDDEN: frozenset[str] = frozenset(
    _words(
        "_metadata current_catalog current_database current_date current_schema current_time current_timestamp "
        "current_timezone current_user grouping__id input_file_name localtimestamp session_user"
    )
)

# what people write that is refused, in words
REFUSED: dict[str, str] = {
    "Subquery": "a subquery",
    "Select": "a subquery",
    "Exists": "a subquery (EXISTS)",
    "Window": "a window function (OVER)",
    "Lambda": "a lambda function",
    "Kwarg": "a named argument",
    "Placeholder": "a parameter",
    "Parameter": "a parameter",
    "RegexpLike": "RLIKE",
    "Distinct": "DISTINCT",
    "Star": "*",
    "Bracket": "[ ]",
    "Interval": "an interval",
    "Concat": "two adjacent string literals",
    "JSONExtract": "->",
    "IgnoreNulls": "IGNORE NULLS",
    "Tuple": "a list in parentheses",
    "Alias": "a name (AS)",
    "Filter": "FILTER",
}
