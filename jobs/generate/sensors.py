"""Machines read a hundred times a second: three energy readings, a temperature, state flags and a work cycle.

Shaped like the manufacturing data set the papers replay (DEBS 2012 grand challenge). Its own file cannot be had with
Heddle; whoever has it replays it here. It has no header: a time, a number, three energies, six positions, one more
reading and then states of 0 and 1, all separated by tabs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

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
from jobs.generate.files import prepare, write_parts
from optimizer.errors import HeddleError
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


READINGS = ("index", "mf01", "mf02", "mf03", "pc13", "pc14", "pc15", "pc25", "pc26", "pc27", "res")
BLOCK = 16 << 20  # bytes of text that are parsed at a time


def replay_debs2012(file: Path, folder: Path, file_events: int, progress: Callable[[int], object]) -> list[Path]:
    """Write the events of the file, in its order, as Parquet files with a column `ts` and named columns."""
    try:
        with file.open("rb"):  # before a folder is made for its events
            prepare(folder)
        return write_parts(read_blocks(file), folder, file_events, progress)
    except pa.ArrowInvalid as error:
        raise HeddleError(f"{file}: {str(error).splitlines()[0]}; give the challenge's tab-separated file") from error
    except OSError as error:
        raise HeddleError(
            f"{file}: {os.strerror(error.errno) if error.errno else error}; name a file that can be read"
        ) from error


def read_blocks(file: Path) -> Iterator[pa.Table]:
    """Yield the events of the file, a block of text at a time."""
    texts = pa.input_stream(str(file), compression="detect")
    options = csv.ReadOptions(autogenerate_column_names=True, block_size=BLOCK)
    times = csv.ConvertOptions(column_types={"f0": pa.string()})
    for batch in csv.open_csv(texts, options, csv.ParseOptions(delimiter="\t"), times):
        yield name_columns(pa.Table.from_batches([batch]), file)


def name_columns(block: pa.Table, file: Path) -> pa.Table:
    """Return a block with the columns' names, its first column as a time and its states as booleans."""
    states = block.num_columns - 1 - len(READINGS)
    if states < 0:
        expected = len(READINGS) + 1
        raise HeddleError(f"{file}: {block.num_columns} columns; give the challenge's file, of at least {expected}")
    readings = [column.cast(pa.int64()) for column in block.columns[1 : len(READINGS) + 1]]
    flags = [column.cast(pa.bool_()) for column in block.columns[len(READINGS) + 1 :]]
    names = ["ts", *READINGS, *(f"flag_{number:02d}" for number in range(1, states + 1))]
    return pa.Table.from_arrays([times_of(block.column(0), file), *readings, *flags], names)


def times_of(texts: pa.ChunkedArray, file: Path) -> pa.ChunkedArray:
    """Return times such as 2012-02-22T16:46:28.9670320+00:00 to the microsecond; their offset must be 0.

    >>> times_of(pa.chunked_array([["2012-02-22T16:46:28.9670320+00:00"]]), Path("x"))[0].as_py().isoformat()
    '2012-02-22T16:46:28.967032+00:00'
    """
    zeros = pc.match_substring_regex(texts, r"^.{19}(\.\d+)?(Z|[+]00:00)?$")
    if not pc.all(zeros).as_py():
        wrong = texts.filter(pc.invert(zeros))[0].as_py()
        raise HeddleError(f"{file}: the time {wrong!r} is not in UTC; give the challenge's file as it was published")
    bare = pc.replace_substring_regex(texts, r"(Z|[+]00:00)$", "")
    return pc.utf8_slice_codeunits(bare, 0, 26).cast(pa.timestamp("us")).cast(pa.timestamp("us", "UTC"))
