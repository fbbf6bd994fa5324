"""Casts between plain types, as CAST does them in ANSI mode; TRY_CAST makes nulls of what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.engine.events.language import decimals, text_casts, times
from jobs.engine.events.language.arithmetic import OVERFLOW
from jobs.engine.events.language.vectors import (
    DATE,
    DOUBLE,
    FLOAT,
    INSTANT,
    LOCAL,
    LONG,
    NULL,
    TEXT,
    TRUTH,
    WIDTHS,
    Vector,
    constant,
    dtype_of,
    forget_errors,
    is_number,
    refuse,
    strict,
)

MILLION = 1_000_000
SECONDS = np.iinfo(np.int64).max // MILLION  # the most that are microseconds in 64 bits
TIMES = (DATE, INSTANT, LOCAL)


def may_cast(kind: pa.DataType, to: pa.DataType) -> bool:
    """Whether the file lane casts a type to another one as Spark does.

    Floats as texts are left to Spark: how many digits they have depends on its Java."""
    if kind in (NULL, to):
        return True
    if kind in (FLOAT, DOUBLE) and (to == TEXT or pa.types.is_decimal(to)):
        return False
    if kind == TEXT:
        return text_casts.may_read(to)
    if is_number(kind) or kind == TRUTH:
        return is_number(to) or to in (TRUTH, TEXT) or (to == INSTANT and is_number(kind))
    return to in (TEXT, *TIMES) or (kind == INSTANT and is_number(to) and not pa.types.is_decimal(to))


@lru_cache(maxsize=64)
def cast(zone: str) -> Callable[[pa.DataType, Vector], Vector]:
    """Return the kernel of CAST with clocks in a zone."""

    def convert(kind: pa.DataType, a: Vector) -> Vector:
        if a.type == kind:
            return a
        if a.type == NULL:
            return constant(kind, None)
        if kind == TEXT:
            return text_casts.write(a, zone)
        if a.type == TEXT:
            return text_casts.read(kind, a, zone)
        if pa.types.is_decimal(a.type) or pa.types.is_decimal(kind):
            return decimals.convert(kind, a)
        if a.type in TIMES:
            return _from_time(kind, a, zone)
        return _to_time(kind, a) if kind == INSTANT else _from_number(kind, a)

    return convert


@lru_cache(maxsize=64)
def try_cast(zone: str) -> Callable[[pa.DataType, Vector], Vector]:
    """Return the kernel of TRY_CAST; what was refused before it stays refused."""

    def convert(kind: pa.DataType, a: Vector) -> Vector:
        bare = Vector(a.type, a.values, a.valid)
        converted = forget_errors(cast(zone)(kind, bare))
        return Vector(kind, converted.values, converted.valid, a.errors, a.reason)

    return convert


def _from_number(kind: pa.DataType, a: Vector) -> Vector:
    values = a.values
    with np.errstate(all="ignore"):
        if kind == TRUTH:
            return strict(kind, values != 0, a)
        if kind in WIDTHS and pa.types.is_floating(a.type):
            return _cut_off(kind, a)
        answer = strict(kind, values.astype(dtype_of(kind)), a)
    if kind in WIDTHS and a.type in WIDTHS and kind.bit_width < a.type.bit_width:
        limits = np.iinfo(dtype_of(kind))
        return refuse(answer, (values < limits.min) | (values > limits.max), OVERFLOW)
    return answer


def _cut_off(kind: pa.DataType, a: Vector) -> Vector:
    """Return floats without what is behind the point; refused beyond the type's limits, which are doubles here."""
    limits = np.iinfo(dtype_of(kind))
    values = a.values.astype(np.float64)
    if lies_within(values, float(limits.min), float(limits.max) / 2):
        return strict(kind, values.astype(dtype_of(kind)), a)
    within = (np.floor(values) <= float(limits.max)) & (np.ceil(values) >= float(limits.min))
    whole = saturate(np.where(within, values, 0))
    return refuse(strict(kind, whole.astype(dtype_of(kind)), a), ~within, OVERFLOW)


def lies_within(values: Any, low: float, high: float) -> bool:
    """Whether all doubles are numbers between two: two looks at the column, where most need no more."""
    return bool(len(values) and values.min() >= low and values.max() <= high)


def saturate(values: Any) -> Any:
    """Return doubles as 64-bit integers as Java's cast does: NaN is 0, beyond the limits is the limit.

    >>> saturate(np.array([-1.5, np.nan, 1e30])).tolist()
    [-1, 0, 9223372036854775807]
    """
    if lies_within(values, -(2.0**62), 2.0**62):
        return values.astype(np.int64)
    with np.errstate(all="ignore"):
        whole = np.where(np.isnan(values), 0, values).astype(np.int64)
    limits = np.iinfo(np.int64)
    return np.where(values >= 2.0**63, limits.max, np.where(values < -(2.0**63), limits.min, whole))


def _to_time(kind: pa.DataType, a: Vector) -> Vector:
    """Return numbers of seconds as instants."""
    if a.type in WIDTHS:
        seconds = a.values.astype(np.int64)
        return (
            strict(kind, np.clip(seconds, -SECONDS - 1, SECONDS) * MILLION, a) if a.type != LONG else _seconds(kind, a)
        )
    with np.errstate(all="ignore"):
        values = a.values.astype(np.float64)
        answer = strict(kind, saturate(values * MILLION), a)
    return refuse(answer, ~np.isfinite(values), "a time that is no number")


def _seconds(kind: pa.DataType, a: Vector) -> Vector:
    limits = np.iinfo(np.int64)
    with np.errstate(all="ignore"):
        micros = a.values * MILLION
    micros = np.where(a.values > SECONDS, limits.max, np.where(a.values < -SECONDS, limits.min, micros))
    return strict(kind, micros, a)


def _from_time(kind: pa.DataType, a: Vector, zone: str) -> Vector:
    if kind in TIMES:
        return times.convert(kind, a, zone)
    if kind in (FLOAT, DOUBLE):
        return strict(kind, (a.values / MILLION).astype(dtype_of(kind)), a)
    seconds = Vector(LONG, a.values // MILLION, a.valid, a.errors, a.reason)
    return seconds if kind == LONG else _from_number(kind, seconds)
