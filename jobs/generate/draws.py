"""Random draws by block and column, so that an event does not depend on the file it is written to.

Drawn for every stream: when events happen and to which key, in the order they arrive. What a user may ask of them has
a range each: `Options`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from optimizer.errors import HeddleError
from optimizer.workloads.workload import option_name, require

RANGES: dict[str, tuple[float, float]] = {
    "events": (1, 100_000_000_000),
    "seed": (0, 2**63 - 1),
    "rate": (0.001, 10_000_000),
    "keys": (1, 65_536),
    "key_skew": (0, 5),
    "gaps": (0, 0.99),
    "out_of_order": (0, 1),
    "late": (0, 1),
    "nulls": (0, 1),
    "nan": (0, 1),
    "infinities": (0, 1),
    "file_events": (1, 100_000_000),
}
Doubles: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Codes: TypeAlias = npt.NDArray[np.uint16]
Flags: TypeAlias = npt.NDArray[np.bool_]
SLOTS = 1 << 20
START = 1_767_225_600_000_000  # 2026-01-01 00:00 UTC in microseconds
SECOND = 1_000_000
SPAN = 10 * SECOND  # events come for this long before a gap
OUT_OF_ORDER_BY = 2 * SECOND  # at most
LATE_BY = (60 * SECOND, 120 * SECOND)  # beyond any lateness a sample catalog allows
BLOCK = 1 << 18  # events drawn together; part of what a seed means


@dataclass(frozen=True)
class Options:
    """How many events, how fast, of which keys, how dirty; shares are between 0 and 1."""

    events: int
    seed: int = 0
    rate: float = 1000.0  # events a second, all keys together
    keys: int = 10
    key_skew: float = 0.0  # Zipf's exponent; 0 takes the keys in turn
    gaps: float = 0.0  # share of the time in which nothing happens
    out_of_order: float = 0.0
    late: float = 0.0
    nulls: float = 0.0
    nan: float = 0.0
    infinities: float = 0.0
    file_events: int = 1_000_000

    def __post_init__(self) -> None:
        for field in fields(self):
            require(field.name, getattr(self, field.name), *RANGES[field.name])
        self._require_share("out_of_order", "late")
        self._require_share("nulls", "nan", "infinities")

    def _require_share(self, *names: str) -> None:
        total = sum(getattr(self, name) for name in names)
        if total > 1:
            raise HeddleError(f"{' + '.join(map(option_name, names))} is {total:g}; together they are at most 1")


def generator(seed: int, column: str, block: int = 0) -> np.random.Generator:
    """Return the draws of one column in one block: always the same, whatever else is drawn."""
    entropy = np.random.SeedSequence([seed, block, zlib.crc32(column.encode())])
    return np.random.Generator(np.random.SFC64(entropy))


def slots(weights: Doubles) -> Codes:
    """Return a table whose entries are drawn uniformly to draw ranks by weight: one gather instead of a search."""
    edges = np.cumsum(weights)
    return np.searchsorted(edges / edges[-1], (np.arange(SLOTS) + 0.5) / SLOTS).astype(np.uint16)


def pick(rng: np.random.Generator, table: Codes, count: int) -> Codes:
    """Draw ranks from a table of slots."""
    return table[rng.integers(0, SLOTS, count, dtype=np.uint32)]


def spoil(values: Doubles, options: Options, column: str, block: int) -> None:
    """Put NaN and infinities among the values, in place."""
    draw = generator(options.seed, f"{column} spoilt", block).random(len(values))
    values[draw < options.nan + options.infinities] = np.inf
    values[draw < options.nan + options.infinities / 2] = -np.inf
    values[draw < options.nan] = np.nan


def array_of(values: npt.NDArray[Any], kind: pa.DataType, options: Options, column: str, block: int) -> pa.Array:
    """Return the column as Arrow holds it, without a copy and with its share of nulls."""
    valid = None
    if options.nulls and column != "ts":
        draw = generator(options.seed, f"{column} nulls", block).random(len(values))
        valid = bits(draw >= options.nulls)
    return pa.Array.from_buffers(kind, len(values), [valid, _buffer(values)])


def plain_array(values: npt.NDArray[Any]) -> pa.Array:
    """Return doubles or flags as Arrow holds them, without nulls."""
    kind = pa.bool_() if values.dtype == np.bool_ else pa.float64()
    return pa.Array.from_buffers(kind, len(values), [None, _buffer(values)])


def strings(names: list[str]) -> pa.Array:
    """Return names as Arrow holds them: from buffers, as pa.array would first import pandas (two seconds)."""
    ends = np.cumsum([0, *(len(name.encode()) for name in names)], dtype=np.int32)
    return pa.Array.from_buffers(
        pa.string(), len(names), [None, pa.py_buffer(ends), pa.py_buffer("".join(names).encode())]
    )


def _buffer(values: npt.NDArray[Any]) -> pa.Buffer:
    return bits(values) if values.dtype == np.bool_ else pa.py_buffer(values)


def bits(flags: Flags) -> pa.Buffer:
    """Return flags as Arrow holds them, eight to a byte."""
    return pa.py_buffer(np.packbits(flags, bitorder="little"))


def table_of(
    columns: dict[str, npt.NDArray[Any]], names: dict[str, list[str]], schema: pa.Schema, options: Options, block: int
) -> pa.Table:
    """Return a block with its spoilt values; a column with names stays dictionary-encoded, to be written fast."""
    arrays = []
    for field in schema:
        values = columns[field.name]
        if values.dtype == np.float64 and (options.nan or options.infinities):
            spoil(values, options, field.name, block)
        if field.name in names:
            codes = array_of(values, pa.uint16(), options, field.name, block)
            arrays.append(pa.DictionaryArray.from_arrays(codes, strings(names[field.name])))
        else:
            arrays.append(array_of(values, field.type, options, field.name, block))
    return pa.Table.from_arrays(arrays, schema.names)


def blocks(events: int) -> Iterator[tuple[int, int, int]]:
    """Yield every block: its number, its first event, how many events."""
    for block, first in enumerate(range(0, events, BLOCK)):
        yield block, first, min(BLOCK, events - first)


def event_times(options: Options, first: int, count: int, block: int, jitter: bool = False) -> Integers:
    """Return the times of events `first` to `first + count`: steady, then stretched by gaps, then some moved back."""
    step = SECOND / options.rate
    ticks = np.arange(first, first + count, dtype=np.float64)
    if jitter:
        ticks += generator(options.seed, "jitter", block).random(count)
    ticks *= step
    if options.gaps:
        ticks += silence(options, ticks)
    times = ticks.astype(np.int64)
    times += START
    if options.out_of_order or options.late:
        times -= delays(options, count, block)
    return times


def silence(options: Options, ticks: Doubles) -> Doubles:
    """Return how long nothing happened before each tick; a short stream gets shorter gaps, not none."""
    span = min(SPAN, options.events * SECOND / options.rate / 10)
    return np.asarray(np.floor(ticks / span) * (span * options.gaps / (1 - options.gaps)))


def delays(options: Options, count: int, block: int) -> Integers:
    """Return how far behind its turn each event happened: 0 for most."""
    rng = generator(options.seed, "delays", block)
    draw = rng.random(count)
    delay = np.zeros(count, dtype=np.int64)
    late = draw < options.late
    behind = ~late & (draw < options.late + options.out_of_order)
    delay[behind] = rng.integers(1, OUT_OF_ORDER_BY, int(behind.sum()))
    delay[late] = rng.integers(*LATE_BY, int(late.sum()))
    return delay


def keys_in_turn(options: Options, table: Codes, first: int, count: int, block: int) -> Codes:
    """Draw one key per event: in turn without skew, drawn by Zipf's law with it."""
    if options.key_skew == 0:
        return (np.arange(first, first + count) % options.keys).astype(np.uint16)
    return pick(generator(options.seed, "keys", block), table, count)
