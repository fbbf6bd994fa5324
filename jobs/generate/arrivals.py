"""When events happen and to which key, in the order they arrive."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jobs.generate.draws import Codes, Doubles, Integers, generator, pick
from jobs.generate.options import Options

START = 1_767_225_600_000_000  # 2026-01-01 00:00 UTC in microseconds
SECOND = 1_000_000
SPAN = 10 * SECOND  # events come for this long before a gap
OUT_OF_ORDER_BY = 2 * SECOND  # at most
LATE_BY = (60 * SECOND, 120 * SECOND)  # beyond any lateness a sample catalog allows

BLOCK = 1 << 18  # events drawn together; part of what a seed means


def blocks(events: int) -> Iterator[tuple[int, int, int]]:
    """Yield every block: its number, its first event, how many events."""
    for block, first in enumerate(range(0, events, BLOCK)):
        yield block, first, min(BLOCK, events - first)


def event_times(options: Options, first: int, count: int, block: int, jitter: bool = False) -> Integers:
    """Microseconds of the events `first` to `first + count`: steady, then stretched by gaps, then some moved back."""
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
    """One key per event: in turn without skew, drawn by Zipf's law with it."""
    if options.key_skew == 0:
        return (np.arange(first, first + count) % options.keys).astype(np.uint16)
    return pick(generator(options.seed, "keys", block), table, count)
