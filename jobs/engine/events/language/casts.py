"""Casts between plain types, as CAST does them in ANSI mode; TRY_CAST makes nulls of what it refuses.

Texts become other values, and other values texts, character by character as Spark reads and prints them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.events.language import decimals, times
from jobs.engine.events.language.arithmetic import OVERFLOW
from jobs.engine.events.language.times import DAY, SECOND, civil, days_of, read_clocks
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
    of_texts,
    refuse,
    strict,
    texts_of,
)

MILLION = 1_000_000
SECONDS = np.iinfo(np.int64).max // MILLION  # the most that are microseconds in 64 bits
TIMES = (DATE, INSTANT, LOCAL)
MALFORMED = "a malformed text"
BLANK = "".join(map(chr, (*range(33), 127)))  # what Spark strips from both ends
TRUTHS = {**dict.fromkeys(("t", "true", "y", "yes", "1"), True), **dict.fromkeys(("f", "false", "n", "no", "0"), False)}
WHOLE = re.compile(r"[+-]?[0-9]+")
REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[dDfF]?")
SPECIAL = {"inf": np.inf, "infinity": np.inf, "nan": np.nan}
DAY_FORM = re.compile(r"([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.DOTALL)
TIME_FORM = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?)?")


def may_cast(kind: pa.DataType, to: pa.DataType) -> bool:
    """Whether the file lane casts a type to another one as Spark does.

    Floats as texts are left to Spark: how many digits they have depends on its Java."""
    if kind in (NULL, to):
        return True
    if kind in (FLOAT, DOUBLE) and (to == TEXT or pa.types.is_decimal(to)):
        return False
    if kind == TEXT:
        return may_read(to)
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
            return write(a, zone)
        if a.type == TEXT:
            return read(kind, a, zone)
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


def may_read(kind: pa.DataType) -> bool:
    """Whether texts are read as values of a type here; times of day are left to Spark, which has many forms of them."""
    return kind in (*WIDTHS, DOUBLE, FLOAT, TRUTH, DATE)


def read(kind: pa.DataType, a: Vector, zone: str) -> Vector:
    """Return texts as values of a type; refused where they are none."""
    encoded = texts_of(a).dictionary_encode()
    parsed = [_parse(kind, text) for text in encoded.dictionary.to_pylist()]
    malformed = np.array([value is None for value in parsed] + [False], np.bool_)
    values = np.array([0 if value is None else value for value in parsed] + [0], dtype_of(kind))
    codes = encoded.indices.fill_null(len(parsed)).to_numpy()
    return refuse(strict(kind, values[codes], a), malformed[codes], MALFORMED)


def _parse(kind: pa.DataType, text: str) -> Any:
    stripped = text.strip(BLANK)
    if kind == TRUTH:
        return TRUTHS.get(stripped.lower())
    if kind == DATE:
        return _parse_date(stripped)
    if kind in WIDTHS:
        limits = np.iinfo(dtype_of(kind))
        number = int(stripped) if WHOLE.fullmatch(stripped) else None
        return number if number is not None and limits.min <= number <= limits.max else None
    return _parse_real(kind, stripped)


def _parse_real(kind: pa.DataType, text: str) -> Any:
    if REAL.fullmatch(text):
        digits = text.rstrip("dDfF")
        return np.float32(digits) if kind == FLOAT else float(digits)
    sign, bare = (-1.0, text[1:]) if text[:1] == "-" else (1.0, text[1:] if text[:1] == "+" else text)
    special = SPECIAL.get(bare.lower())
    return None if special is None or (text != bare and special != special) else sign * special


def _parse_date(text: str) -> int | None:
    form = DAY_FORM.fullmatch(text)
    if not form:
        return None
    year, month, day = int(form[1]), int(form[2] or 1), int(form[3] or 1)
    return _days(year, month, day)


def _days(year: int, month: int, day: int) -> int | None:
    if not (1 <= month <= 12 and day >= 1):
        return None
    first, parts = np.array([year]), (np.array([month]), np.array([day]))
    days = days_of(first, *parts)
    same = [int(part[0]) for part in civil(days)] == [year, month, day]
    return int(days[0]) if same and -(1 << 31) <= days[0] < 1 << 31 else None


def read_time(text: str) -> int | None:
    """Return the microseconds of a time written in full, without a zone; None of any other form.

    >>> read_time("1970-01-01 00:00:01.5")
    1500000
    """
    form = TIME_FORM.fullmatch(text.strip(BLANK))
    if not form:
        return None
    days = _days(*(int(part) for part in form.group(1, 2, 3)))
    hour, minute, second = (int(part or 0) for part in form.group(4, 5, 6))
    if days is None or hour > 23 or minute > 59 or second > 59:
        return None
    return days * DAY + ((hour * 60 + minute) * 60 + second) * SECOND + int((form[7] or "0").ljust(6, "0"))


def write(a: Vector, zone: str) -> Vector:
    """Return values as texts, instants as clocks of a zone show them; each distinct value is written once."""
    a = read_clocks(a, zone) if a.type == INSTANT else a
    distinct, codes = np.unique(a.values, return_inverse=True)
    texts = pa.array([_writer(a.type)(value) for value in distinct.tolist()], pa.string())
    array = texts.take(pa.array(codes.reshape(-1)))
    if a.valid is not None:
        array = pc.if_else(pa.array(a.valid), array, pa.scalar(None, pa.string()))
    return of_texts(array, a.errors, a.reason)


def _writer(kind: pa.DataType) -> Callable[[Any], str]:
    if kind == TRUTH:
        return lambda value: "true" if value else "false"
    if kind == DATE:
        return _write_date
    if kind == LOCAL:
        return _write_time
    return partial(_write_decimal, kind.scale) if pa.types.is_decimal(kind) else str


def _write_date(days: int) -> str:
    year, month, day = (int(part[0]) for part in civil(np.array([days])))
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}"


def _write_time(micros: int) -> str:
    days, rest = divmod(micros, DAY)
    seconds, fraction = divmod(rest, SECOND)
    text = f"{_write_date(days)} {seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{text}.{fraction:06d}".rstrip("0") if fraction else text


def _write_decimal(scale: int, value: int) -> str:
    digits = str(abs(value)).rjust(scale + 1, "0")
    text = f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits
    return f"-{text}" if value < 0 else text
