"""Several Arrow tables in one file or one blob: one stream after another, each with its label."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from jobs.engine.events.arrow import COMPRESSED, PLAIN, read_tables, write_tables
from jobs.host.storage import Storage
from optimizer.errors import HeddleError


def save(storage: Storage, name: str, tables: Mapping[str, pa.Table]) -> int:
    """Write tables to a file nobody else writes; what a failed task leaves behind is swept later. A local disk is
    faster than a compressor, a network is not."""
    with storage.filesystem.open_output_stream(storage.path(name)) as sink:
        write_tables(sink, tables, PLAIN if storage.local else COMPRESSED)
    return int(storage.filesystem.get_file_info(storage.path(name)).size)


def load(storage: Storage, name: str) -> dict[str, pa.Table]:
    """Read the tables of a file, all or none."""
    try:
        with storage.filesystem.open_input_file(storage.path(name)) as source:
            return read_tables(pa.BufferReader(source.read()))
    except (OSError, pa.ArrowException, KeyError, TypeError, UnicodeDecodeError):
        raise HeddleError(
            f"{storage.path(name)}: is damaged or missing; restore this file from a backup, then run again"
        ) from None
