"""Parquet files that arrive in order; a reader never sees half of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from optimizer.errors import HeddleError


def prepare(folder: Path) -> None:
    """Make the folder; refuse one that holds events, since old and new would be read as one stream."""
    folder.mkdir(parents=True, exist_ok=True)
    if next(folder.glob("part-*.parquet"), None):
        raise HeddleError(f"--out {folder} holds events already; name another folder, or remove it first")


def write_parts(
    tables: Iterable[pa.Table], folder: Path, file_events: int, progress: Callable[[int], object]
) -> list[Path]:
    """Write the tables as files of `file_events` events each; `progress` hears of every piece written."""
    return [
        write_part(folder / f"part-{number:06}.parquet", (piece for _, piece in pieces), progress)
        for number, pieces in groupby(cut(tables, file_events), key=itemgetter(0))
    ]


def cut(tables: Iterable[pa.Table], size: int) -> Iterator[tuple[int, pa.Table]]:
    """Yield the rows in pieces that no boundary of `size` rows crosses, each with the number of its part."""
    row = 0
    for table in tables:
        while table.num_rows:
            piece = table.slice(0, size - row % size)
            yield row // size, piece
            row += piece.num_rows
            table = table.slice(piece.num_rows)


def write_part(path: Path, pieces: Iterator[pa.Table], progress: Callable[[int], object]) -> Path:
    """Write one file, under a hidden name until it is whole."""
    hidden = path.with_name(f".{path.name}.tmp")
    first = next(pieces)
    # doubles and times hardly repeat: trying a dictionary for them costs more than all the rest of the writing
    unique = (pa.types.is_floating, pa.types.is_timestamp)
    repeating = [field.name for field in first.schema if not any(kind(field.type) for kind in unique)]
    try:
        # without Arrow's own schema a dictionary-encoded string reads back as a plain string
        with pq.ParquetWriter(hidden, first.schema, use_dictionary=repeating, store_schema=False) as writer:
            for piece in (first, *pieces):
                writer.write_table(piece)
                progress(piece.num_rows)
        return hidden.replace(path)
    finally:
        hidden.unlink(missing_ok=True)
