"""What a user would take instead of the kernels: numba loops, and the libraries of benchmarks/requirements.txt."""

from __future__ import annotations

import os

import jobs  # noqa: F401 (names the cache's folder, before numba is imported)

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # before polars is imported: CPU time is what is compared

from typing import Any

import bottleneck
import duckdb
import numpy as np
import pandas as pd
import polars as pl
from numba import njit

from jobs.kernels.columns.scratch import allocate_columns

Array = Any

MOVE = {"max": bottleneck.move_max, "sum": bottleneck.move_sum}
REDUCE = {"max": np.maximum.reduceat, "sum": np.add.reduceat}


@njit(cache=True)
def max_pass(values: Array) -> float:
    """One pass over memory."""
    largest = values[0]
    for value in values:
        largest = value if value > largest else largest
    return largest


@njit(cache=True, fastmath=True)
def sum_pass(values: Array) -> float:
    """One pass over memory, free to add in any order."""
    total = 0.0
    for value in values:
        total += value
    return total


PASS = {"max": max_pass, "sum": sum_pass}


@njit(cache=True)
def _accumulator_per_start(values: Array, longest: int, largest: bool, out: Array) -> None:
    """All ranges up to the longest: an accumulator for every start, each updated by every event."""
    state = np.empty(longest)
    for tick in range(values.size):
        value = values[tick]
        for j in range(longest - 1, 0, -1):
            state[j] = max(state[j - 1], value) if largest else state[j - 1] + value
        state[0] = value
        row = out[tick]
        for j in range(longest):
            row[j] = state[j]


@njit(cache=True)
def _backward_scan(values: Array, longest: int, largest: bool, out: Array) -> None:
    """All ranges up to the longest: from every event back."""
    for tick in range(longest - 1, values.size):
        fold = values[tick]
        row, past = out[tick], values[tick - longest + 1 : tick + 1]
        row[0] = fold
        for j in range(1, longest):
            value = past[longest - 1 - j]
            fold = max(fold, value) if largest else fold + value
            row[j] = fold


def accumulator_per_start(values: Array, longest: int, largest: bool) -> Array:
    """All ranges by an accumulator per start, in the memory that answers have."""
    return _by_tick(_accumulator_per_start, values, longest, largest)


def backward_scan(values: Array, longest: int, largest: bool) -> Array:
    """All ranges by a scan back from every event, in the memory that answers have."""
    return _by_tick(_backward_scan, values, longest, largest)


def _by_tick(fill: Any, values: Array, longest: int, largest: bool) -> Array:
    (block,) = allocate_columns([len(values) * longest], values.dtype)
    out = block.reshape(len(values), longest)
    fill(values, longest, largest, out)
    return out


def shared_chunks(values: Array, slide: int, aggregate: str) -> Array:
    """Events folded to one number a slide, as a careful user would share them by hand."""
    whole = len(values) // slide * slide
    return values[:whole] if slide == 1 else REDUCE[aggregate](values[:whole], np.arange(0, whole, slide))


def by_pandas(values: Array, width: int, slide: int, aggregate: str) -> Array:
    """One query over the events, as it is written with pandas."""
    return getattr(pd.Series(values).rolling(width), aggregate)().to_numpy()[width - 1 :: slide]


def by_polars(values: Array, width: int, slide: int, aggregate: str) -> Array:
    """One query over the events, as it is written with polars."""
    return getattr(pl.Series(values), f"rolling_{aggregate}")(width).gather_every(slide, width - 1)


def by_duckdb(values: Array, width: int, slide: int, aggregate: str) -> Array:
    """One query over the events, as it is written with duckdb."""
    events = pd.DataFrame({"place": np.arange(len(values)), "x": values})
    frame = f"(ORDER BY place ROWS BETWEEN {width - 1} PRECEDING AND CURRENT ROW)"
    query = f"SELECT y FROM (SELECT place, {aggregate}(x) OVER {frame} AS y FROM events)"
    with duckdb.connect(config={"threads": 1}) as database:
        database.register("events", events)
        return database.execute(
            f"{query} WHERE place >= {width - 1} AND (place - {width - 1}) % {slide} = 0"
        ).fetchnumpy()


LIBRARIES = {"pandas": by_pandas, "polars": by_polars, "duckdb": by_duckdb}
