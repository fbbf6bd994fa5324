"""Machines read a hundred times a second: three energy readings, a temperature, state flags and a work cycle.

Shaped like the manufacturing data set the papers replay (DEBS 2012 grand challenge).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.generate.draws import (
    SECOND,
    START,
    Doubles,
    Integers,
    Options,
    blocks,
    event_times,
    generator,
    keys_in_turn,
    slots,
    table_of,
)
from optimizer.workloads.workload import zipf_weights

SCHEMA = pa.schema(
    [
        ("ts", pa.timestamp("us", "UTC")),
        ("machine", pa.string()),
        ("energy_1", pa.float64()),
        ("energy_2", pa.float64()),
        ("energy_3", pa.float64()),
        ("temperature", pa.float64()),
        ("running", pa.bool_()),
        ("alarm", pa.bool_()),
        ("cycle", pa.int64()),
    ]
)
STEPS = 1024  # a work cycle's shape
BUSY = 900  # steps of it in which the machine runs
ALARM = 11.0  # degrees above the machine's base; a busy machine gets there a few times in a thousand


def profiles() -> dict[str, Doubles]:
    """Return what each reading adds in the course of a work cycle: it rises, holds, falls, and idles."""
    step = np.minimum(np.arange(STEPS) / BUSY, 1)
    load = np.abs(np.sin(np.pi * step))
    return {"energy_1": 40 * np.sqrt(load), "energy_2": 25 * load, "energy_3": 10 * load**2, "temperature": 8 * load}


def machine_names(count: int) -> list[str]:
    """Return m01, m02, ... so that names sort as numbers do."""
    width = max(2, len(str(count)))
    return [f"m{number:0{width}}" for number in range(1, count + 1)]


def sensors(options: Options) -> Iterator[pa.Table]:
    """Yield the events in the order they arrive, a block at a time."""
    names, table = machine_names(options.keys), slots(zipf_weights(options.keys, options.key_skew))
    base = generator(options.seed, "base").uniform(20, 60, options.keys)
    for block, first, count in blocks(options.events):
        times = event_times(options, first, count, block)
        machine = keys_in_turn(options, table, first, count, block)
        length = (8 + machine.astype(np.int64) % 5) * SECOND
        cycle = (times - START) // length
        step = (times - START - cycle * length) * STEPS // length
        columns: dict[str, npt.NDArray[Any]] = {
            "ts": times,
            "machine": machine,
            **readings(options, base[machine], step, block),
            "running": step < BUSY,
            "cycle": cycle,
        }
        columns["alarm"] = columns["running"] & (columns["temperature"] - base[machine] > ALARM)
        yield table_of(columns, {"machine": names}, SCHEMA, options, block)


def readings(options: Options, base: Doubles, step: Integers, block: int) -> dict[str, Doubles]:
    """Return each reading: its machine's base load, what the work cycle adds, and noise."""
    columns = {}
    for name, profile in profiles().items():
        values = generator(options.seed, name, block).standard_normal(len(step))
        values += base
        values += profile[step]
        columns[name] = values
    return columns
