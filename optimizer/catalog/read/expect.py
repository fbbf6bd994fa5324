"""The entries of `expect:` on a stream or a query, checked one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from optimizer.catalog.model.query import CRITICAL, WARNING, Expectation
from optimizer.catalog.sql.durations import parse_duration
from optimizer.errors import Mistake, did_you_mean, show

FIELD = "expect"
OF_STREAM = ("nulls", "range", "set", "volume", "freshness")
OF_QUERY = ("range", "change")
WITHOUT_COLUMN = ("volume", "freshness")
EXAMPLES = {
    "nulls": "{column: x, nulls: 0.01}",
    "range": "{column: x, range: [0, 100]}",
    "set": "{column: kind, set: [a, b]}",
    "volume": "{volume: [1000, null]}",
    "freshness": "{freshness: 1 hour}",
    "change": "{change: 0.5}",
}


def parse_stream_expectations(entries: Sequence[Any] | None) -> tuple[Expectation, ...]:
    """Return what is expected of a stream's events."""
    parsed = tuple(_parse(entry, OF_STREAM) for entry in entries or ())
    for expectation in parsed:
        if bool(expectation.column) == (expectation.kind in WITHOUT_COLUMN):
            needs = "needs no column" if expectation.column else "needs a column"
            raise Mistake(f"{expectation.kind} {needs}", f"write {EXAMPLES[expectation.kind]}", FIELD)
    return parsed


def parse_query_expectations(entries: Sequence[Any] | None) -> tuple[Expectation, ...]:
    """Return what is expected of a query's answers.

    >>> parse_query_expectations([{"range": ["0", None]}, {"change": "0.5", "severity": "warning"}])[1].high
    0.5
    """
    return tuple(_parse(entry, OF_QUERY) for entry in entries or ())


def check_answer_columns(expectations: Sequence[Expectation], names: Sequence[str]) -> None:
    """Refuse an expectation of a column that is no aggregate of its query."""
    for expectation in expectations:
        if expectation.column and expectation.column not in names:
            right = did_you_mean(expectation.column, names, f"aggregates: {', '.join(names)}")
            raise Mistake(f"there is no aggregate {show(expectation.column)}", right, FIELD)


def _parse(entry: Any, kinds: Sequence[str]) -> Expectation:
    if not isinstance(entry, dict):
        raise Mistake(f"{show(entry)} is no expectation", f"write {EXAMPLES[kinds[0]]}", FIELD)
    unknown = [str(name) for name in entry if name not in (*kinds, "column", "severity")]
    if unknown:
        right = did_you_mean(unknown[0], kinds, f"fields: column, severity, {', '.join(kinds)}")
        raise Mistake(f"there is no field {show(unknown[0])}", right, FIELD)
    named = [kind for kind in kinds if kind in entry]
    if len(named) != 1:
        raise Mistake(f"{show(entry)} expects {len(named) or 'nothing'}", f"write one of {', '.join(kinds)}", FIELD)
    column, severity = entry.get("column", ""), entry.get("severity", CRITICAL)
    if not isinstance(column, str):
        raise Mistake(f"{show(column)} is no column", "write its name", FIELD)
    if severity not in (CRITICAL, WARNING):
        raise Mistake(f"{show(severity)} is no severity", f"write {CRITICAL} or {WARNING}", FIELD)
    return PARSERS[named[0]](named[0], entry[named[0]], column, severity)


def _parse_share(kind: str, value: Any, column: str, severity: str) -> Expectation:
    most, share = 1.0 if kind == "nulls" else math.inf, _number(value)
    if share is None or not 0 <= share <= most:
        right = "write a share from 0 to 1" if kind == "nulls" else "write a share of 0 or more, as 0.5 for a half"
        raise Mistake(f"{kind} is {show(value)}", right, FIELD)
    return Expectation(kind, column, high=share, severity=severity)


def _parse_span(kind: str, value: Any, column: str, severity: str) -> Expectation:
    right = "write [lowest, highest], null where there is no bound"
    bounds = value if isinstance(value, list) and len(value) == 2 else ["none"]
    if any(text is not None and _number(text) is None for text in bounds):
        raise Mistake(f"{kind} is {show(value)}", right, FIELD)
    low, high = map(_number, bounds)
    if (low is None and high is None) or (low is not None and high is not None and low > high):
        raise Mistake(f"{kind} is {show(value)}, which holds always or never", right, FIELD)
    return Expectation(kind, column, low, high, severity=severity)


def _parse_set(kind: str, value: Any, column: str, severity: str) -> Expectation:
    if not isinstance(value, list) or not value or not all(isinstance(text, str) for text in value):
        raise Mistake(f"set is {show(value)}", "write a list of texts or numbers, as [a, b]", FIELD)
    return Expectation(kind, column, values=tuple(value), severity=severity)


def _parse_freshness(kind: str, value: Any, column: str, severity: str) -> Expectation:
    duration = parse_duration(value) if isinstance(value, str) else 0
    if duration <= 0:
        raise Mistake(f"freshness is {show(value)}", "write a duration, as 1 hour", FIELD)
    return Expectation(kind, column, high=duration, severity=severity)


def _number(text: Any) -> float | None:
    """Return the number that a text of the file is, if it is one."""
    try:
        number = float(text)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


PARSERS: dict[str, Callable[[str, Any, str, str], Expectation]] = {
    "nulls": _parse_share,
    "change": _parse_share,
    "range": _parse_span,
    "volume": _parse_span,
    "set": _parse_set,
    "freshness": _parse_freshness,
}
