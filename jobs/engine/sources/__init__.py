"""Sources: where the events of a stream are, which of their files are new, and how those files hold the columns.

- contract: What a source gives: files with their offset, and how a table's files hold its columns.
- delta: Delta tables, by their own log: the files that appends added.
- files: Files (parquet, csv, json, orc): the one listing of what is in the folder of a stream, consumed or not.
- iceberg: Iceberg tables, by their snapshots: the files that appends added.
"""

from __future__ import annotations

from jobs.engine.sources import delta, files, iceberg
from jobs.engine.sources.contract import Source, TableColumns
from jobs.engine.sources.files import File
from optimizer.catalog.model.query import Stream

SOURCES: dict[str, Source] = {
    "parquet": Source(files.list_files),
    "csv": Source(files.list_files),
    "json": Source(files.list_files),
    "orc": Source(files.list_files),
    "delta": Source(delta.list_files, delta.list_snapshots, delta.read_columns),
    "iceberg": Source(iceberg.list_files, iceberg.list_snapshots, iceberg.read_columns),
}


def list_input_files(stream: Stream) -> list[File]:
    """List the files of a stream as they are now, the oldest first, whether a batch has consumed them or not."""
    return SOURCES[stream.format].list_files(stream)


def table_columns(stream: Stream) -> TableColumns | None:
    """Return the columns as a table's own schema has them; None where every file says its own."""
    source = SOURCES.get(stream.format)
    return source.read_columns(stream) if source and source.read_columns and not stream.sql else None
