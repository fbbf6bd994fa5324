"""Trades: prices walk at random, symbol by symbol; a few volumes make up most. With the tables they are joined to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.generate.draws import (
    SLOTS,
    Codes,
    Doubles,
    Integers,
    Options,
    blocks,
    event_times,
    generator,
    keys_in_turn,
    pick,
    plain_array,
    slots,
    strings,
    table_of,
)
from optimizer.workloads.workload import zipf_weights

SCHEMA = pa.schema(
    [
        ("ts", pa.timestamp("us", "UTC")),
        ("symbol", pa.string()),
        ("price", pa.float64()),
        ("volume", pa.int64()),
        ("exchange", pa.string()),
    ]
)
EXCHANGES = {"NASDAQ": 0.4, "NYSE": 0.3, "ARCA": 0.15, "BATS": 0.1, "IEX": 0.05}
ROUND_LOTS = {100: 0.45, 200: 0.15, 500: 0.12, 300: 0.06, 1000: 0.06}  # the other volumes share what is left
LARGEST_VOLUME = 10_000
LARGE, SMALL = 0.25, 0.5  # shares of the symbols in r1000 and in r2000
STEP = 0.0005  # of one trade, in the logarithm of the price


def symbol_names(count: int) -> list[str]:
    """Return AAAA, AAAB, ...: four letters, as many as there are keys."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return ["".join(letters[number // 26**place % 26] for place in (3, 2, 1, 0)) for number in range(count)]


def opening_prices(options: Options) -> Doubles:
    """Return the prices at which the symbols' walks start."""
    return np.exp(generator(options.seed, "opening").normal(4, 0.8, options.keys))


def volume_slots(options: Options) -> Integers:
    """Return a table to draw volumes from: round lots by their weights, then any volume."""
    lots = np.repeat(list(ROUND_LOTS), [int(weight * SLOTS) for weight in ROUND_LOTS.values()])
    odd = generator(options.seed, "volumes").integers(1, LARGEST_VOLUME, SLOTS - len(lots))
    return np.concatenate([lots, odd])


def trades(options: Options) -> Iterator[pa.Table]:
    """Yield the trades in the order they arrive, a block at a time."""
    names, keys = symbol_names(options.keys), slots(zipf_weights(options.keys, options.key_skew))
    exchanges, volumes = slots(np.array(list(EXCHANGES.values()))), volume_slots(options)
    level = np.log(opening_prices(options))
    for block, first, count in blocks(options.events):
        symbol = keys_in_turn(options, keys, first, count, block)
        draws = generator(options.seed, "volume", block).integers(0, SLOTS, count, dtype=np.uint32)
        columns: dict[str, npt.NDArray[Any]] = {
            "ts": event_times(options, first, count, block, jitter=True),
            "symbol": symbol,
            "price": prices(generator(options.seed, "price", block), symbol, level),
            "volume": volumes[draws],
            "exchange": pick(generator(options.seed, "exchange", block), exchanges, count),
        }
        yield table_of(columns, {"symbol": names, "exchange": list(EXCHANGES)}, SCHEMA, options, block)


def prices(rng: np.random.Generator, symbol: Codes, level: Doubles) -> Doubles:
    """Return one step of its symbol's walk per trade, in cents; `level` carries each walk on to the next block."""
    order = np.argsort(symbol, kind="stable")
    walk = np.cumsum(rng.normal(0, STEP, len(symbol))[order])
    counts = np.bincount(symbol, minlength=len(level))
    ends = np.cumsum(counts)
    before = np.concatenate([[0.0], walk])[ends - counts]
    walked = np.empty(len(symbol))
    walked[order] = walk + np.repeat(level - before, counts)
    level += np.concatenate([[0.0], walk])[ends] - before
    np.exp(walked, out=walked)
    walked *= 100
    np.rint(walked, out=walked)
    walked /= 100
    return np.maximum(walked, 0.01, out=walked)


def close(options: Options) -> pa.Table:
    """Return yesterday's closing price of every symbol."""
    change = generator(options.seed, "close").normal(0, 0.01, options.keys)
    closing = np.round(opening_prices(options) * np.exp(change), 2)
    return static_table({"symbol": symbol_names(options.keys), "close": closing})


def index(options: Options) -> pa.Table:
    """Return which indexes every symbol belongs to: r3000 is r1000 and r2000 together; some symbols are in none."""
    draw = generator(options.seed, "index").random(options.keys)
    large, small = draw < LARGE, (draw >= LARGE) & (draw < LARGE + SMALL)
    return static_table({"symbol": symbol_names(options.keys), "r3000": large | small, "r2000": small, "r1000": large})


def static_table(columns: dict[str, list[str] | npt.NDArray[Any]]) -> pa.Table:
    """Return the columns as a table: lists are texts, arrays doubles or flags."""
    arrays = [strings(values) if isinstance(values, list) else plain_array(values) for values in columns.values()]
    return pa.Table.from_arrays(arrays, list(columns))


TABLES: dict[str, Callable[[Options], pa.Table]] = {"close": close, "index": index}
