"""Types: how values are coded as numbers, and what type Spark gives an aggregate of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import pyarrow as pa

from jobs.engine.program.program import Coding
from jobs.engine.sources.contract import ARROW
from optimizer.catalog.spark_types.numbers import DECIMAL
from optimizer.catalog.spark_types.parquet import spark_type
from optimizer.catalog.spark_types.results import NEEDS, RESULTS
from optimizer.errors import HeddleError

FOLDED_AS = {"sum_squares": "sum"}  # what is folded is no longer the argument
SUMS = ("sum", "sum_squares", "try_sum", "avg", "try_avg")  # which add decimals, and give a decimal
PICKS = ("min", "max", "first", "last", "any_value", "argmin", "argmax", "mode", "percentile_approx")
WORD_DIGITS = 18  # of a decimal that fits into 64 bits without its point


class Unfoldable(HeddleError):  # noqa: N818 (such values are answered by Spark)
    """Values that the kernels have no numbers for."""


def is_short(kind: pa.DataType) -> bool:
    """Return whether all decimals of a type, without their point, are 64-bit integers.

    >>> is_short(pa.decimal128(18, 2)), is_short(pa.decimal128(19, 2))
    (True, False)
    """
    return bool(kind.precision <= WORD_DIGITS)


def coding_of(kind: pa.DataType, adds: bool = False) -> Coding:
    """Return how values of a type become numbers that order as Spark orders the values, or add up to their sum.

    >>> coding_of(pa.date32()), coding_of(pa.float32()), coding_of(pa.string())
    ('int64', 'float64', 'ranked')
    >>> coding_of(pa.decimal128(18, 2)), coding_of(pa.decimal128(19, 2)), coding_of(pa.decimal128(19, 2), adds=True)
    ('decimal', 'ranked', 'decimal')
    """
    if pa.types.is_decimal128(kind) and (adds or is_short(kind)):
        return "decimal"
    if pa.types.is_floating(kind):
        return "float64"
    if (
        pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_date32(kind)
        or pa.types.is_timestamp(kind)
    ):
        return "int64"
    if pa.types.is_decimal128(kind) or plain_type(kind) in (pa.string(), pa.binary()):
        return "ranked"
    raise Unfoldable(f"values of type {kind} cannot be folded; cast them to double, bigint, string, date or timestamp")


def require_plain(kind: pa.DataType) -> None:
    """Refuse values that are made of others, or of types whose order or hash nobody here knows."""
    if pa.types.is_nested(kind) or pa.types.is_duration(kind) or pa.types.is_interval(kind) or pa.types.is_null(kind):
        raise Unfoldable(f"values of type {kind} cannot be told apart here")


def result_type(aggregate: str, arguments: Sequence[pa.DataType]) -> pa.DataType:
    """Return the type of an aggregate's answers, as Spark has it.

    >>> result_type("avg", [pa.int32()])
    DataType(double)
    """
    if not arguments:
        return pa.int64()
    argument = spark_type(arguments[0])
    needs, finish = RESULTS[FOLDED_AS.get(aggregate, aggregate)]
    if not needs(argument):
        raise HeddleError(f"{aggregate} of a {argument}: it needs {NEEDS[needs]}; cast it first")
    kind = finish(argument)
    decimal = re.fullmatch(DECIMAL, kind)
    if decimal and _folds_decimals(aggregate, arguments[0]):
        return pa.decimal128(*map(int, decimal.groups()))
    if kind == "binary":
        return pa.binary()
    if kind not in ARROW:
        raise Unfoldable(f"{aggregate} of a {argument} is not evaluated here; cast it to double or string first")
    return ARROW[kind]


def _folds_decimals(aggregate: str, kind: pa.DataType) -> bool:
    """Return whether an aggregate of decimals is a decimal here, too."""
    if aggregate == "range":
        return bool(pa.types.is_decimal(kind) and is_short(kind))
    return aggregate in (*SUMS, *PICKS)


def sum_type(kind: pa.DataType) -> pa.DataType | None:
    """Return the type of Spark's sum of decimals; None of other values.

    >>> sum_type(pa.decimal128(12, 2)), sum_type(pa.decimal128(30, 2)), sum_type(pa.float64())
    (Decimal128Type(decimal128(22, 2)), Decimal128Type(decimal128(38, 2)), None)
    """
    return result_type("sum", [kind]) if pa.types.is_decimal(kind) else None


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of a column's values, however a file happens to encode them."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", "UTC" if kind.tz else None)
    if pa.types.is_fixed_size_binary(kind) or pa.types.is_large_binary(kind):
        return pa.binary()
    return pa.string() if pa.types.is_large_string(kind) else kind


def require_key(name: str, kind: pa.DataType) -> None:
    """Refuse to group by values that are made of others."""
    if pa.types.is_nested(kind):
        made_of = "struct" if pa.types.is_struct(kind) else str(kind)
        raise HeddleError(
            f"group_by: the column {name} is a {made_of}, whose values are no keys here; group by plain columns, which "
            "the SQL of another stream can make of it"
        )


def can_widen(narrow: pa.DataType, wide: pa.DataType) -> bool:
    """Return whether every value of one type is a value of the other, as Spark's own reader has it.

    >>> can_widen(pa.int32(), pa.int64()), can_widen(pa.decimal128(9, 2), pa.decimal128(12, 4))
    (True, True)
    >>> can_widen(pa.decimal128(9, 2), pa.decimal128(12, 6))
    False
    """
    if pa.types.is_list(narrow) and pa.types.is_list(wide):
        return can_widen(narrow.value_type, wide.value_type)
    if pa.types.is_decimal(narrow) and pa.types.is_decimal(wide):
        whole, wider = (kind.precision - kind.scale for kind in (narrow, wide))
        return bool(whole <= wider and narrow.scale <= wide.scale)
    for family in (pa.types.is_signed_integer, pa.types.is_floating):
        if family(narrow) and family(wide):
            return bool(narrow.bit_width <= wide.bit_width)
    return False


def list_of(kind: pa.DataType) -> pa.DataType:
    """Return the type of arrays without nulls, which Spark's aggregates give."""
    return pa.list_(pa.field("element", kind, nullable=False))


@lru_cache(maxsize=1024)
def parse_type(name: str) -> pa.DataType:
    """Return the type that this text names: what str(type) says, read back.

    >>> kinds = [list_of(pa.decimal128(9, 2)), pa.list_(pa.field("element", pa.struct([("x", pa.float64())])))]
    >>> all(parse_type(str(kind)) == kind for kind in kinds)
    True
    """
    if array := re.fullmatch(r"list<element: (.+?)( not null)?>", name):
        return pa.list_(pa.field("element", parse_type(array[1]), nullable=not array[2]))
    if struct := re.fullmatch(r"struct<(.+)>", name):
        fields = (re.fullmatch(r"(\w+): (.+?)( not null)?", part) for part in re.split(r", (?=\w+: )", struct[1]))
        return pa.struct([pa.field(f[1], parse_type(f[2]), nullable=not f[3]) for f in fields if f])
    zoned = re.fullmatch(r"timestamp\[(\w+), tz=(.+)\]", name)
    decimal = re.fullmatch(r"decimal128\((\d+), (\d+)\)", name)
    if decimal:
        return pa.decimal128(*map(int, decimal.groups()))
    return pa.timestamp(*zoned.groups()) if zoned else pa.type_for_alias(name)


INSTANT = pa.timestamp("us", "UTC")
