"""Types: how values are coded as numbers, and what type Spark gives an aggregate of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa

from jobs.engine.program import Coding
from optimizer.errors import HeddleError

AS_ITS_ARGUMENT = frozenset(["min", "max", "first", "last", "argmin", "argmax", "range", "bit_and", "bit_or"])
WHOLE = frozenset(["count"])
TRUTH = frozenset(["bool_and", "bool_or"])


def coding_of(kind: pa.DataType) -> Coding:
    """How values of a type become numbers that order as Spark orders the values."""
    if pa.types.is_floating(kind):
        return "float64"
    if (
        pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_date32(kind)
        or pa.types.is_timestamp(kind)
    ):
        return "int64"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "text"
    raise HeddleError(f"values of type {kind} cannot be folded; cast them to double, bigint, string, date or timestamp")


def result_type(aggregate: str, arguments: Sequence[pa.DataType]) -> pa.DataType:
    """The type of an aggregate's answers."""
    if aggregate in WHOLE:
        return pa.int64()
    if aggregate in TRUTH:
        return pa.bool_()
    if aggregate in AS_ITS_ARGUMENT:
        return arguments[0]
    if aggregate in ("sum", "sum_squares") and pa.types.is_integer(arguments[0]):
        return pa.int64()
    return pa.float64()


def plain(kind: pa.DataType) -> pa.DataType:
    """The type of a column's values, however a file happens to encode them."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.string() if pa.types.is_large_string(kind) else kind


def type_named(name: str) -> pa.DataType:
    """The type whose text this is: what str(type) says, read back."""
    zoned = re.fullmatch(r"timestamp\[(\w+), tz=(.+)\]", name)
    return pa.timestamp(*zoned.groups()) if zoned else pa.type_for_alias(name)
