"""The result type of every function that an expression may use."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce

from optimizer.catalog.spark_types.numbers import DECIMAL, NUMERIC, UNKNOWN, arithmetic, decimal, wider

Rule = str | Callable[[list[str]], str]


def _words(text: str) -> list[str]:
    return text.split()


def _first(types: list[str]) -> str:
    return types[0]


def _widest(types: list[str]) -> str:
    return reduce(wider, types)


def _whole(types: list[str]) -> str:
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
    **dict.fromkeys(("ceil", "ceiling", "floor"), _whole),
    **dict.fromkeys(("round", "bround"), _rounded),
    **dict.fromkeys(("mod", "pmod"), lambda types: arithmetic("Mod", *types)),
    **dict.fromkeys(("shiftleft", "shiftright"), lambda types: "bigint" if types[0] == "bigint" else "int"),
    "date_trunc": "timestamp",
    "nanvl": lambda types: "float" if types == ["float", "float"] else "double",
    "if": lambda types: _widest(types[1:]),
}
