"""Vectors: the values of an expression for some rows, which of them are null, and which rows Spark would refuse.

An error is a mark on a row, never raised here: whoever asked for the expression knows which rows a query looks at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.events.arrow import Words, join_words, split_words
from jobs.engine.program.spark_types import is_short
from jobs.kernels.arrays import Bools

Values = Any  # a numpy array of numbers, or an Arrow array of texts, which may be a dictionary
TEXT, TRUTH, NULL, DATE, INSTANT, LOCAL = (
    pa.string(),
    pa.bool_(),
    pa.null(),
    pa.date32(),
    pa.timestamp("us", "UTC"),
    pa.timestamp("us"),
)
DOUBLE, FLOAT = pa.float64(), pa.float32()
WIDTHS = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
BYTE, SHORT, INT, LONG = WIDTHS
NUMPY: dict[pa.DataType, Any] = {
    **{kind: np.dtype(kind.to_pandas_dtype()) for kind in (*WIDTHS, FLOAT, DOUBLE)},
    TRUTH: np.dtype(np.bool_),
    DATE: np.dtype(np.int32),
    INSTANT: np.dtype(np.int64),
    LOCAL: np.dtype(np.int64),
}


class NotExact(Exception):  # noqa: N818 (not an error: it chooses the lane)
    """The file lane would not give Spark's answer for this expression."""


class RefusedRow(pa.ArrowInvalid):  # type: ignore[misc]  # pyarrow has no types
    """A row that Spark's ANSI mode refuses."""


@dataclass(frozen=True, slots=True)
class Vector:
    """A value per row; one value alone stands for every row. What lies under a null or an error means nothing."""

    type: pa.DataType
    values: Values
    valid: Bools | None = None  # None: no row is null
    errors: Bools | None = None  # None: no row is refused
    reason: str = ""  # of the errors

    def __len__(self) -> int:
        return len(self.values)


def of_texts(texts: Values, errors: Bools | None = None, reason: str = "") -> Vector:
    """Return a vector of texts; its nulls are those of the Arrow array."""
    valid = None if texts.null_count == 0 else np.asarray(texts.is_valid())
    return Vector(TEXT, texts, valid, errors, reason)


def texts_of(vector: Vector) -> pa.Array:
    """Return the texts of a vector, out of their dictionary."""
    array = vector.values
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def from_arrow(column: Any) -> Vector:
    """Return a column of events; its numbers are not copied.

    >>> from_arrow(pa.array([3, None])).valid.tolist()
    [True, False]
    """
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if kind in (pa.string(), pa.large_string()):
        return of_texts(array.cast(TEXT) if array.type == pa.large_string() else array)
    if pa.types.is_dictionary(array.type):
        return from_arrow(array.dictionary_decode())
    if pa.types.is_timestamp(kind):
        kind = INSTANT if kind.tz else LOCAL
        array = array.cast(kind)
    valid = None if array.null_count == 0 else np.asarray(array.is_valid())
    return Vector(kind, _numbers(array), valid)


def _numbers(array: pa.Array) -> Values:
    if pa.types.is_boolean(array.type):
        return _bits(array.buffers()[1], array)
    if pa.types.is_decimal128(array.type):
        return _unscaled(array)
    dtype = NUMPY[INSTANT if pa.types.is_timestamp(array.type) else array.type]
    return np.frombuffer(array.buffers()[1] or b"", dtype)[array.offset : array.offset + len(array)]


def _bits(buffer: Any, array: pa.Array) -> Bools:
    if buffer is None:
        return np.zeros(len(array), np.bool_)
    packed = np.frombuffer(buffer, np.uint8)
    return np.unpackbits(packed, count=array.offset + len(array), bitorder="little")[array.offset :].view(np.bool_)


def _unscaled(array: pa.Array) -> Values:
    """Return decimals as whole numbers: as int64 where all their digits fit, else as Python's."""
    low, high = split_words(array)
    return low if is_short(array.type) else high.astype(object) * (1 << 64) + low.view(np.uint64).astype(object)


def to_arrow(vector: Vector, rows: int) -> pa.Array:
    """Return a vector as an Arrow array of so many rows; null where a row is refused, too."""
    valid = vector.valid if vector.errors is None else _and(vector.valid, ~vector.errors)
    if vector.type == NULL:
        return pa.nulls(rows)
    if vector.type == TEXT:
        texts = texts_of(vector)
        texts = pa.repeat(texts[0], rows) if len(texts) == 1 != rows else texts
        return (
            texts if vector.errors is None else pc.if_else(pa.array(_wide(valid, rows)), texts, pa.scalar(None, TEXT))
        )
    values = _wide(vector.values, rows)
    mask = None if valid is None else _wide(valid, rows)
    if pa.types.is_decimal(vector.type):
        return _decimals(vector.type, values, mask)
    bits = None if mask is None else pa.py_buffer(np.packbits(mask, bitorder="little"))
    if vector.type == TRUTH:
        return pa.Array.from_buffers(TRUTH, rows, [bits, pa.py_buffer(np.packbits(values, bitorder="little"))])
    return pa.Array.from_buffers(vector.type, rows, [bits, pa.py_buffer(np.ascontiguousarray(values))])


def _decimals(kind: pa.DataType, values: Values, mask: Bools | None) -> pa.Array:
    if values.dtype != object:
        return join_words(kind, Words(values, values >> 63), mask)
    filled = values if mask is None else np.where(mask, values, 0)
    low = (filled & ((1 << 64) - 1)).astype(np.uint64).view(np.int64)
    return join_words(kind, Words(low, (filled >> 64).astype(np.int64)), mask)


def _wide(values: Any, rows: int) -> Any:
    return np.broadcast_to(values, rows) if len(values) == 1 != rows else values


def _and(left: Bools | None, right: Bools) -> Bools:
    return right if left is None else left & right


def is_number(kind: pa.DataType) -> bool:
    """Whether values of a type can be added."""
    return kind in WIDTHS or kind in (FLOAT, DOUBLE) or pa.types.is_decimal128(kind)


def constant(kind: pa.DataType, value: Any) -> Vector:
    """Return a vector of one value, or of one null."""
    if kind == TEXT:
        return of_texts(pa.array([value], TEXT))
    if value is None:
        return Vector(kind, empty(kind, 1), np.zeros(1, np.bool_))
    return Vector(kind, np.array([value], dtype_of(kind)))


def empty(kind: pa.DataType, rows: int) -> Values:
    """Return values of a type that mean nothing, for rows that are null."""
    return pa.nulls(rows, TEXT) if kind == TEXT else np.zeros(rows, dtype_of(kind))


def dtype_of(kind: pa.DataType) -> Any:
    """Return the numpy type in which values of a type are computed."""
    if pa.types.is_decimal(kind):
        return np.dtype(np.int64) if is_short(kind) else np.dtype(object)
    return NUMPY.get(kind, np.dtype(np.bool_))


def strict(kind: pa.DataType, values: Values, *parts: Vector) -> Vector:
    """Return values that are null where a part is null; Spark evaluates a part where all parts before it have a value.

    >>> a, b = from_arrow(pa.array([1, None])), Vector(LONG, np.array([1, 1]), None, np.array([True, True]))
    >>> strict(LONG, a.values, a, b).errors.tolist(), strict(LONG, a.values, b, a).errors.tolist()
    ([True, False], [True, True])
    """
    valid, errors, reason = join(*parts)
    return Vector(kind, values, valid, errors, reason)


def join(*parts: Vector) -> tuple[Bools | None, Bools | None, str]:
    """Return where all parts have values, and where one is refused that is looked at, with the reason."""
    valid: Bools | None = None
    errors: Bools | None = None
    reason = ""
    for part in parts:
        if part.errors is not None:
            part_errors = part.errors if valid is None else part.errors & valid
            errors = part_errors if errors is None else errors | part_errors
            reason = reason or part.reason
        if part.valid is not None:
            valid = _and(valid, part.valid)
    return valid, errors, reason


def refuse(vector: Vector, rows: Bools, reason: str) -> Vector:
    """Return a vector that is refused in these rows, too, unless they are null."""
    marks = rows if vector.valid is None else rows & vector.valid
    if not marks.any():
        return vector
    errors = marks if vector.errors is None else vector.errors | marks
    return replace(vector, errors=errors, reason=vector.reason or reason)


def nullify(vector: Vector, rows: Bools) -> Vector:
    """Return a vector that is null in these rows, too."""
    if not rows.any():
        return vector
    if vector.type == TEXT:
        texts = pc.if_else(pa.array(_wide(~rows, len(vector))), texts_of(vector), pa.scalar(None, TEXT))
        return of_texts(texts, vector.errors, vector.reason)
    return replace(vector, valid=~rows if vector.valid is None else vector.valid & ~rows)


def forget_errors(vector: Vector) -> Vector:
    """Return a vector that is null where it was refused: the TRY_ forms."""
    if vector.errors is None:
        return vector
    return nullify(replace(vector, errors=None, reason=""), vector.errors)
