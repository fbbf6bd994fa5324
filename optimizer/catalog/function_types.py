"""The result type of every function that an expression may use."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from optimizer.catalog.numbers import INTEGRAL, UNKNOWN, arithmetic, wider

Rule = str | Callable[[list[str]], str]


def _words(text: str) -> list[str]:
    return text.split()


def _first(types: list[str]) -> str:
    return types[0]


def _widest(types: list[str]) -> str:
    return reduce(wider, types)


def _whole(types: list[str]) -> str:
    """ceil and floor with one argument give whole numbers; of decimals and to given digits Spark has more rules."""
    plain = len(types) == 1 and types[0] in (*INTEGRAL, "float", "double")
    return "bigint" if plain else UNKNOWN


def _rounded(types: list[str]) -> str:
    return types[0] if types[0] in (*INTEGRAL, "float", "double") else UNKNOWN


FUNCTION_TYPES: dict[str, Rule] = {
    **dict.fromkeys(_words("exp expm1 ln log log10 log1p log2 sign signum sqrt cbrt rint"), "double"),
    **dict.fromkeys(_words("sin cos tan asin acos atan sinh cosh tanh degrees radians"), "double"),
    **dict.fromkeys(("atan2", "hypot", "pow", "power"), "double"),
    **dict.fromkeys(("isnan", "isnull", "isnotnull", "startswith", "endswith", "contains"), "boolean"),
    **dict.fromkeys(_words("lower upper lcase ucase trim ltrim rtrim left right substring substr concat"), "string"),
    **dict.fromkeys(("length", "char_length", "bit_count"), "int"),
    **dict.fromkeys(_words("year quarter month day dayofmonth dayofweek dayofyear hour minute second"), "int"),
    **dict.fromkeys(("unix_seconds", "unix_millis", "unix_micros"), "bigint"),
    **dict.fromkeys(("greatest", "least", "coalesce", "nvl", "ifnull", "nanvl"), _widest),
    **dict.fromkeys(("abs", "nullif"), _first),
    **dict.fromkeys(("ceil", "ceiling", "floor"), _whole),
    **dict.fromkeys(("round", "bround"), _rounded),
    **dict.fromkeys(("mod", "pmod"), lambda types: arithmetic("Mod", *types)),
    **dict.fromkeys(("shiftleft", "shiftright"), lambda types: "bigint" if types[0] == "bigint" else "int"),
    "date_trunc": "timestamp",
    "if": lambda types: _widest(types[1:]),
}
