"""State files: the retained slices of a bucket, as a base and the deltas that later batches added.

A file holds several Arrow tables: one stream after another, each with its label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from jobs.engine.events.arrow import COMPRESSED, PLAIN, read_tables, write_tables
from jobs.engine.warehouse.manifest import DataFile
from jobs.engine.warehouse.result_files import fresh_name
from jobs.host.storage import Storage
from optimizer.errors import HeddleError

FOLDER = "state"
MOST_DELTAS = 8


def load_state(storage: Storage, files: Sequence[DataFile]) -> dict[str, list[pa.Table]]:
    """Load the slices of a bucket by label, one table per file, in the order they were written."""
    tables: dict[str, list[pa.Table]] = {}
    for file in files:
        for label, table in _load(storage, file.name).items():
            tables.setdefault(label, []).append(table)
    return tables


def save_state(storage: Storage, batch: int, bucket: int, slices: Mapping[str, pa.Table]) -> list[DataFile]:
    """Write one file of slices, unless there are none."""
    rows = sum(table.num_rows for table in slices.values())
    if not rows:
        return []
    name = fresh_name(FOLDER, batch, bucket, "arrow")
    # nobody else writes this name, and what a failed task leaves behind is swept later: no draft is needed
    with storage.filesystem.open_output_stream(storage.path(name)) as sink:
        write_tables(sink, slices, PLAIN if storage.local else COMPRESSED)  # a disk is faster than a compressor
    return [DataFile(name, bucket, rows, batch)]


def pays_to_rewrite(files: Sequence[DataFile], added: int, retained: int) -> bool:
    """Whether a new base pays: the deltas outweigh the old one, or are many, or most of what is there has expired."""
    if not files:
        return True
    deltas = sum(file.rows for file in files[1:]) + added
    return deltas > files[0].rows or len(files) > MOST_DELTAS or 2 * retained < files[0].rows + deltas


def _load(storage: Storage, name: str) -> dict[str, pa.Table]:
    """Read the tables of a file, all or none."""
    try:
        with storage.filesystem.open_input_file(storage.path(name)) as source:
            return read_tables(pa.BufferReader(source.read()))
    except (OSError, pa.ArrowException, KeyError, TypeError, UnicodeDecodeError):
        raise HeddleError(
            f"{storage.path(name)}: is damaged or missing; restore this file from a backup, then run again"
        ) from None
