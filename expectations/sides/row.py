"""The shape both sides of an audit have: one row per query, key and window, whatever the type of the answer.

An audit looks at a sample, so both sides are tables in memory. Answers of all types are compared as text, which one
function makes for both sides of values that have the same type; floats that were added up stay numbers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from math import ceil
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from expectations.sample import is_exact
from jobs.engine.warehouse.statements import EvaluatedStatement
from jobs.runs.report import format_time
from optimizer.catalog.model.query import Query

OPEN = "open"  # answers among which Spark chooses freely, because several events tie
SCALE = "scale"  # how large the numbers were that an answer was rounded from
LAST = "last"  # event of a window in rows, which it became full by
COLUMNS = ("query", "aggregate", "about", "key", "start", "end", "past_edge", "rows", "text", "number")
NAIVE_COLUMNS = (*COLUMNS, OPEN, SCALE)
ACCURACY = 10_000  # of percentile_approx, where none is written
UNORDERED = ("collect_list", "collect_set", "listagg")  # what is in them is theirs, in which order is not
BY_ORDER_OF_ROWS = ("histogram_numeric",)  # which bins are made depends on the order in which rows come
SKETCHES = ("hll_sketch_agg",)  # whose bytes depend on that order, too, but not what they have counted
HLL_MODE = 2  # of a sketch with a register for every bucket; before, it is a list (0) or a set (1) of hashes
Column: TypeAlias = "pa.Array | pa.ChunkedArray"


class Sides(NamedTuple):
    """The engine's answers and Spark's, in the same windows."""

    ours: pd.DataFrame
    naive: pd.DataFrame


class Answers(NamedTuple):
    """A query's answers; from Spark also those that are as good, and the scale of their rounding."""

    values: Column
    candidates: Column | None = None
    scale: Column | None = None


def make_rows(
    statement: EvaluatedStatement, starts: Sequence[int], keys: Sequence[Column], answers: Mapping[str, Answers]
) -> pd.DataFrame:
    """Return a row for every query and place, of columns that have a value for every place."""
    window, names = statement.window, key_texts(dict(zip(statement.keys, _cast_keys(statement, keys), strict=True)))
    frames = []
    for id, answer in answers.items():
        query, exact = statement.queries[id], is_exact(statement, id)
        values = answer.values.cast(statement.types[id])
        nothing = [None] * len(starts)
        columns = {
            "query": id,
            "aggregate": query.aggregate,
            "about": about(query),
            "key": names or ["{}"] * len(starts),
            "start": list(starts),
            "end": [start + window.range for start in starts],
            "past_edge": [(start - window.offset) % window.slide for start in starts],
            "rows": window.rows,
            "text": answer_texts(query, values) if exact else nothing,
            "number": nothing if exact else values.cast(pa.float64()).to_pylist(),
        }
        if answer.scale is not None:
            columns[SCALE] = answer.scale.cast(pa.float64()).to_pylist()
            columns[OPEN] = _open_texts(query, answer.candidates, len(starts))
        frames.append(pd.DataFrame(columns, dtype=object))
    return pd.concat(frames, ignore_index=True)


def _cast_keys(statement: EvaluatedStatement, keys: Sequence[Column]) -> list[Column]:
    return [column.cast(statement.key_types[key]) for key, column in zip(statement.keys, keys, strict=True)]


def key_texts(columns: Mapping[str, Column]) -> list[str]:
    """Return every key as text that no two keys share; nulls are keys like any other."""
    parts = [texts(column) for column in columns.values()]
    return [json.dumps(dict(zip(columns, key, strict=True)), ensure_ascii=False) for key in zip(*parts, strict=True)]


def texts(column: Column) -> list[str | None]:
    """Return values as text; -0.0 equals 0.0, and every other difference shows.

    >>> texts(pa.array([-0.0, 0.1, None, float("nan")])), texts(pa.array(["a", None]))
    (['0.0', '0.1', None, 'nan'], ['a', None])
    """
    if pa.types.is_floating(column.type):
        column = column.cast(pa.float64())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = column.cast(pa.large_binary())  # Spark keeps bytes that are no text
    return [text_of(value) for value in column.to_pylist()]


def answer_texts(query: Query, column: Column) -> list[str | None]:
    """Return answers as text. Of lists whose order Spark leaves open, it is that of the sorted list; of texts made
    from such lists, that of their sorted letters; of sketches, what they have counted; of answers that depend on the
    order of addition, whether there is one."""
    if query.aggregate in UNORDERED:
        return [None if value is None else text_of(sorted(value, key=str)) for value in column.to_pylist()]
    if query.aggregate in SKETCHES:
        return [None if value is None else sketch_text(value) for value in column.to_pylist()]
    if query.aggregate in BY_ORDER_OF_ROWS:
        return [None if value is None else "an answer" for value in column.to_pylist()]
    return texts(column)


def sketch_text(sketch: bytes) -> str:
    """Return what a sketch of distinct values has counted: its hashes in order, or its registers. What it keeps beside
    them, and where hashes stand, depends on the order in which rows came."""
    precision, mode = sketch[3], sketch[7] & 3
    if mode == HLL_MODE:
        return f"{precision}: registers {sketch[40:].hex()}"
    hashes = np.frombuffer(sketch, "<u4", offset=8 + 4 * mode)  # 0 where none stands
    return f"{precision}: hashes {np.unique(hashes[hashes > 0]).tolist()}"


def text_of(value: Any) -> str | None:
    """Return a value as text."""
    if isinstance(value, list):
        return f"[{', '.join(map(str, map(text_of, value)))}]"
    if isinstance(value, float):
        return repr(value + 0.0)
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return None if value is None else str(value)


def _open_texts(query: Query, candidates: Column | None, rows: int) -> list[list[str | None] | None]:
    """Return the values of the events that tie, for every place."""
    if candidates is None:
        return [None] * rows
    tied = _extreme(query.aggregate in ("first", "any_value", "argmin"))
    if query.aggregate in ("mode", "percentile_approx"):
        tied = _most_frequent if query.aggregate == "mode" else partial(near_shares, query.arguments)
    return [tied(events or []) for events in candidates.to_pylist()]


def _extreme(smallest: bool) -> Callable[[list[dict[str, Any]]], list[str | None]]:
    def tied(events: list[dict[str, Any]]) -> list[str | None]:
        ordered = [event for event in events if event["by"] is not None]
        orders = [_order(event["by"]) for event in ordered]
        extreme = (min if smallest else max)(orders, default=None)
        return [text_of(event["value"]) for event, order in zip(ordered, orders, strict=True) if order == extreme]

    return tied


def _order(value: Any) -> tuple[bool, Any]:
    """Return what orders values as Spark does: NaN is above every number."""
    return (True, 0.0) if value != value else (False, value)


def _most_frequent(events: list[dict[str, Any]]) -> list[str | None]:
    values = [text_of(event["value"]) for event in events if event["value"] is not None]
    counts = {value: values.count(value) for value in set(values)}
    return [value for value, count in counts.items() if count == max(counts.values())]


def near_shares(arguments: Sequence[str], events: list[dict[str, Any]]) -> list[str | None]:
    """Return the values whose ranks are as near to the shares as Spark promises, or all lists of such values."""
    values = sorted((event["value"] for event in events if event["value"] is not None), key=_order)
    if not values:
        return [None]
    error = len(values) // int(arguments[2] if len(arguments) > 2 else ACCURACY)
    shares = arguments[1].removeprefix("array(").removesuffix(")").split(",")
    near = [_near(values, max(ceil(len(values) * float(share)), 1) - 1, error) for share in shares]
    if arguments[1].startswith("array("):
        return [text_of(list(each)) for each in product(*near)]
    return [text_of(value) for value in near[0]]


def _near(values: Sequence[Any], place: int, error: int) -> list[Any]:
    return list(dict.fromkeys(values[max(place - error, 0) : place + error + 1]))


def about(query: Query) -> str:
    """Return which events a query looks at: answers of min, avg and max about the same events bound one another."""
    return repr((query.group_by, query.where, query.arguments, query.window.rows))


def answer_text(text: str | None, number: float | None) -> str:
    """Return the answer as a person reads it."""
    return text if text is not None else "NULL" if number is None else repr(number)


def window_text(start: int | None, end: int | None, rows: bool) -> str:
    """Return the window as a person reads it, in UTC or in rows.

    >>> window_text(0, 60_000_000, rows=False), window_text(0, 100, rows=True)
    ('1970-01-01 00:00:00Z to 1970-01-01 00:01:00Z', 'rows 0 to 100')
    """
    if start is None or end is None:
        return "nowhere"
    return f"rows {start} to {end}" if rows else f"{format_time(start)} to {format_time(end)}"
