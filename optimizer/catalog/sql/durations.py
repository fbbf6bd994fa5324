"""Durations, as Spark writes them ('1 minute 30 seconds', 'INTERVAL 5 MINUTES') and short ('90s'), in microseconds."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from optimizer.errors import Mistake, did_you_mean, in_field, show
from optimizer.windows.window import Window

UNITS: dict[str, int] = {
    "week": 604_800_000_000,
    "day": 86_400_000_000,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}
SHORT: dict[str, str] = {
    "w": "week",
    "d": "day",
    "h": "hour",
    "m": "minute",
    "min": "minute",
    "mins": "minute",
    "s": "second",
    "sec": "second",
    "secs": "second",
    "ms": "millisecond",
    "us": "microsecond",
}
NAMES: dict[str, int] = (
    UNITS | {f"{unit}s": ticks for unit, ticks in UNITS.items()} | {short: UNITS[unit] for short, unit in SHORT.items()}
)
LONGEST = 36_525 * UNITS["day"]  # a century: every product of two ticks that the engine forms stays exact
RIGHT = "write it like '1 minute', '90 seconds' or '90s'"

_WHOLE = re.compile(r"(?:interval\s+)?((?:[+-]?\s*'?[0-9]{1,20}(?:\.[0-9]{1,12})?'?\s*[a-z]+\s*)+)", re.IGNORECASE)
_PART = re.compile(r"([+-]?)\s*'?([0-9]+(?:\.[0-9]+)?)'?\s*([a-z]+)\s*", re.IGNORECASE)


@lru_cache(maxsize=65_536)
def parse_duration(text: str) -> int:
    """Return the exact microseconds of a duration; refuse what has no fixed length or no whole number of microseconds.

    >>> parse_duration("1 minute 30 seconds"), parse_duration("90s"), parse_duration("INTERVAL '0.5' SECOND")
    (90000000, 90000000, 500000)
    """
    match = _WHOLE.fullmatch(text.strip()) if len(text) <= 200 else None
    if match is None:
        raise Mistake(f"{show(text)} is not a duration", RIGHT)
    ticks = sum((_part(*part) for part in _PART.findall(match[1])), Fraction(0))
    if ticks.denominator != 1:
        raise Mistake(f"{show(text)} is not a whole number of microseconds", "the finest unit is 1 microsecond")
    if abs(ticks) > LONGEST:
        raise Mistake(f"{show(text)} is too long", "the longest duration is 36525 days")
    return int(ticks)


def _part(sign: str, number: str, unit: str) -> Fraction:
    name = unit.lower()
    if name.rstrip("s") in ("month", "year", "quarter"):
        raise Mistake(f"{unit} has no fixed length", "use weeks, days, hours, minutes or seconds")
    if name not in NAMES:
        raise Mistake(f"there is no unit {show(unit)}", did_you_mean(name, NAMES, RIGHT))
    return Fraction(number) * NAMES[name] * (-1 if sign == "-" else 1)


def print_duration(ticks: int) -> str:
    """Write a duration in the largest unit that divides it.

    >>> print_duration(90_000_000), print_duration(3_600_000_000)
    ('90 seconds', '1 hour')
    """
    unit = next(unit for unit, length in UNITS.items() if ticks % length == 0)
    count = ticks // UNITS[unit]
    return f"{count} {unit}" if abs(count) == 1 else f"{count} {unit}s"


_ROWS = re.compile(r"\s*([+-]?[0-9]{1,15})\s+rows?\s*", re.IGNORECASE)


@lru_cache(maxsize=65_536)
def parse_length(text: str) -> tuple[int, bool]:
    """Return the ticks of a length, and whether they are rows; otherwise they are microseconds.

    >>> parse_length("5 seconds"), parse_length("100 rows")
    ((5000000, False), (100, True))
    """
    rows = _ROWS.fullmatch(text) if len(text) <= 200 else None
    return (int(rows[1]), True) if rows else (parse_duration(text), False)


def print_length(ticks: int, rows: bool) -> str:
    """Write a range, slide or offset as a catalog does.

    >>> print_length(5_000_000, rows=False), print_length(100, rows=True)
    ('5 seconds', '100 rows')
    """
    if rows:
        return f"{ticks} row" if ticks == 1 else f"{ticks} rows"
    return print_duration(ticks)


def make_window(range_: int, slide: int, offset: int = 0, rows: bool = False) -> Window:
    """Check a window, and bring its offset into [0, slide), which leaves the windows as they are.

    >>> make_window(60, 10, offset=-5)
    Window(range=60, slide=10, offset=5, rows=False)
    """
    if slide < 1:
        raise Mistake(f"the slide is {print_length(slide, rows)}", "a slide is at least 1", "slide")
    if range_ < slide:
        raise Mistake(
            f"the range ({print_length(range_, rows)}) is shorter than the slide ({print_length(slide, rows)})",
            "events would fall between windows; use a slide no longer than the range",
            "slide",
        )
    rest = offset % slide
    if abs(offset) >= slide:
        raise Mistake(
            f"the offset ({print_length(offset, rows)}) is not shorter than the slide ({print_length(slide, rows)})",
            f"Spark refuses it; the same windows have the offset {print_length(rest, rows) if rest else 0}",
            "offset",
        )
    return Window(range_, slide, rest, rows)


@lru_cache(maxsize=65_536)
def parse_window(range_: str, slide: str | None, offset: str | None) -> Window:
    """Return the window of three texts as a catalog writes them; without a slide it is tumbling.

    >>> parse_window("1 minute", None, None).slide
    60000000
    """
    texts = {"range": range_, "slide": slide or range_, "offset": offset}
    lengths: dict[str, tuple[int, bool]] = {}
    for field, text in texts.items():
        if text is not None:
            lengths[field] = in_field(field, parse_length, text)
    range_ticks, rows = lengths["range"]
    for field, (_, in_rows) in lengths.items():
        if in_rows != rows:
            raise Mistake("time and rows are mixed", "give range, slide and offset all in time or all in rows", field)
    return make_window(range_ticks, lengths["slide"][0], lengths.get("offset", (0, rows))[0], rows)
