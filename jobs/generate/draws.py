"""Random draws by block and column, so that an event does not depend on the file it is written to."""

from __future__ import annotations

import zlib
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.generate.options import Options

Doubles: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Codes: TypeAlias = npt.NDArray[np.uint16]
Flags: TypeAlias = npt.NDArray[np.bool_]

SLOTS = 1 << 20


def generator(seed: int, column: str, block: int = 0) -> np.random.Generator:
    """Return the draws of one column in one block: always the same, whatever else is drawn."""
    entropy = np.random.SeedSequence([seed, block, zlib.crc32(column.encode())])
    return np.random.Generator(np.random.SFC64(entropy))


def slots(weights: Doubles) -> Codes:
    """Return a table whose entries are drawn uniformly to draw ranks by weight: one gather instead of a search."""
    edges = np.cumsum(weights)
    return np.searchsorted(edges / edges[-1], (np.arange(SLOTS) + 0.5) / SLOTS).astype(np.uint16)


def pick(rng: np.random.Generator, table: Codes, count: int) -> Codes:
    """Ranks drawn from a table of slots."""
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
    """From buffers, as pa.array would first import pandas: two seconds for a handful of names."""
    ends = np.cumsum([0, *(len(name.encode()) for name in names)], dtype=np.int32)
    return pa.Array.from_buffers(
        pa.string(), len(names), [None, pa.py_buffer(ends), pa.py_buffer("".join(names).encode())]
    )


def _buffer(values: npt.NDArray[Any]) -> pa.Buffer:
    return bits(values) if values.dtype == np.bool_ else pa.py_buffer(values)


def bits(flags: Flags) -> pa.Buffer:
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
