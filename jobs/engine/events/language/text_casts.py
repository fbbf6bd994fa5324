"""Texts as other values, and other values as texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.events.language.times import DAY, SECOND, civil, days_of, read_clocks
from jobs.engine.events.language.vectors import (
    DATE,
    DOUBLE,
    FLOAT,
    INSTANT,
    LOCAL,
    TRUTH,
    WIDTHS,
    Vector,
    dtype_of,
    of_texts,
    refuse,
    strict,
    texts_of,
)

MALFORMED = "a malformed text"
BLANK = "".join(map(chr, (*range(33), 127)))  # what Spark strips from both ends
TRUTHS = {**dict.fromkeys(("t", "true", "y", "yes", "1"), True), **dict.fromkeys(("f", "false", "n", "no", "0"), False)}
WHOLE = re.compile(r"[+-]?[0-9]+")
REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[dDfF]?")
SPECIAL = {"inf": np.inf, "infinity": np.inf, "nan": np.nan}
DAY_FORM = re.compile(r"([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.DOTALL)
TIME_FORM = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?)?")


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
