"""Spark's arithmetic on types, with spark.sql.ansi.enabled as it ships (on)."""

from __future__ import annotations

import re

UNKNOWN = "unknown"
INTEGRAL = ("tinyint", "smallint", "int", "bigint")
NUMERIC = (*INTEGRAL, "float", "double")
DECIMAL = r"decimal\((\d+),(\d+)\)"
_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}


def numeric(kind: str) -> bool:
    """Say whether values of a type can be added up."""
    return kind in NUMERIC or kind.startswith("decimal") or kind == "void"


def decimal(precision: int, scale: int) -> str:
    """Return a decimal type, cut to 38 digits as Spark cuts it: whole digits stay, and at least 6 after the point.

    >>> decimal(12, 2), decimal(45, 10)
    ('decimal(12,2)', 'decimal(38,6)')
    """
    if precision > 38:
        scale = max(38 - (precision - scale), min(scale, 6))
        precision = 38
    return f"decimal({precision},{scale})"


def wider(left: str, right: str) -> str:
    """Return the type that two values of one column must have.

    >>> wider("int", "bigint"), wider("int", "decimal(4,2)")
    ('bigint', 'decimal(12,2)')
    """
    if left == right or right == "void":
        return left
    if left == "void":
        return right
    if UNKNOWN in (left, right) or not (numeric(left) and numeric(right)):
        return UNKNOWN
    pair = {left, right}
    if "double" in pair:
        return "double"
    if "float" in pair:
        return "double"
    if left in INTEGRAL and right in INTEGRAL:
        return max(left, right, key=INTEGRAL.index)
    (p1, s1), (p2, s2) = _digits(left), _digits(right)
    scale = max(s1, s2)
    return decimal(max(p1 - s1, p2 - s2) + scale, scale)


def arithmetic(operator: str, left: str, right: str) -> str:
    """Return the type of `left operator right`; operators have sqlglot's names.

    >>> arithmetic("Add", "int", "double"), arithmetic("Div", "int", "int")
    ('double', 'double')
    """
    if UNKNOWN in (left, right) or not (numeric(left) and numeric(right)):
        return UNKNOWN
    if operator == "IntDiv":
        return "bigint"
    if "decimal" in left + right and not {"float", "double"} & {left, right}:
        return _decimal_arithmetic(operator, *_digits(left), *_digits(right))
    return "double" if operator == "Div" else wider(left, right)


def _digits(kind: str) -> tuple[int, int]:
    match = re.fullmatch(DECIMAL, kind)
    return (int(match[1]), int(match[2])) if match else (_DIGITS.get(kind, 1), 0)


def _decimal_arithmetic(operator: str, p1: int, s1: int, p2: int, s2: int) -> str:
    if operator in ("Add", "Sub"):
        scale = max(s1, s2)
        return decimal(max(p1 - s1, p2 - s2) + scale + 1, scale)
    if operator == "Mul":
        return decimal(p1 + p2 + 1, s1 + s2)
    if operator == "Div":
        scale = max(6, s1 + p2 + 1)
        return decimal(p1 - s1 + s2 + scale, scale)
    if operator == "Mod":
        scale = max(s1, s2)
        return decimal(min(p1 - s1, p2 - s2) + scale, scale)
    return UNKNOWN
