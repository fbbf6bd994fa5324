"""Synthetic events, as Parquet files that arrive in order: numpy draws them, pyarrow writes them.

- draws: Random draws by block and column: when events happen, to which key, in which order; and their options.
- files: Parquet files that arrive in order; a reader never sees half of one.
- sensors: Machines read a hundred times a second, and the file of the DEBS 2012 challenge that they are shaped like.
- trades: Trades: prices walk at random, symbol by symbol; a few volumes make up most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa

from jobs.generate.draws import Options
from jobs.generate.files import prepare, write_part, write_parts
from jobs.generate.sensors import sensors
from jobs.generate.trades import TABLES, trades
from optimizer.errors import HeddleError

STREAMS: dict[str, Callable[[Options], Iterator[pa.Table]]] = {
    "sensors": sensors,
    "trades": trades,
}
STATIC: dict[str, dict[str, Callable[[Options], pa.Table]]] = {"trades": TABLES}


def silent(rows: int) -> None:
    """Say nothing of how far the work is."""


def generate(stream: str, options: Options, folder: Path, progress: Callable[[int], object] = silent) -> list[Path]:
    """Write a stream's events and, under `_tables` where no reader looks for events, the tables they are joined to."""
    try:
        prepare(folder)
        for name, table in STATIC.get(stream, {}).items():
            (folder / "_tables").mkdir(exist_ok=True)
            write_part(folder / "_tables" / f"{name}.parquet", iter([table(options)]), silent)
        return write_parts(STREAMS[stream](options), folder, options.file_events, progress)
    except OSError as error:
        raise HeddleError(f"--out {folder}: {error.strerror or error}; name a folder that can be written") from error
