"""Sources: where the events of a stream are, which of their files are new, and how those files hold the columns.

- contract: What a source gives: files with their offset, the listing of a folder, and how files hold columns.
- delta: Delta tables, by their own log: the files that appends added.
- iceberg: Iceberg tables, by their snapshots: the files that appends added.
- kafka: Topics of Kafka: messages are landed as Parquet together with their offsets.
- landing: Landed events: their files, and the log that says which offsets each landing has.
- messages: Messages of a topic as columns, and which of them do not fit the schema.
"""

from __future__ import annotations

from jobs.engine.sources import delta, iceberg, kafka, landing
from jobs.engine.sources.contract import File, Source, TableColumns, list_files, list_nothing, require_folder
from optimizer.catalog.model.query import Stream

SOURCES: dict[str, Source] = {
    "parquet": Source(list_files),
    "csv": Source(list_files),
    "json": Source(list_files),
    "orc": Source(list_files),
    "delta": Source(delta.list_files, delta.list_snapshots, delta.read_columns),
    "iceberg": Source(iceberg.list_files, iceberg.list_snapshots, iceberg.read_columns),
    "table": Source(list_nothing),  # of Spark's catalog: Spark lists it, in jobs/spark
    "kafka": Source(
        landing.list_landed_files,
        landing.list_landings,
        kafka.read_columns,
        kafka.land_messages,
        landing.tend_landings,
    ),
}


def land_events(stream: Stream) -> None:
    """Land what has arrived at a source that is no set of files; refuse a folder or a table that is not there."""
    source = SOURCES.get(stream.format)
    if source and source.land:
        source.land(stream)
    elif source and source.list_files is list_files:
        require_folder(stream)
    else:
        table_columns(stream)


def tend_landed(stream: Stream, offset: str) -> list[str]:
    """Drop landed files that are old and read, up to an offset; return what a person should know of the others."""
    source = SOURCES.get(stream.format)
    return source.tend(stream, offset) if source and source.tend else []


def list_input_files(stream: Stream) -> list[File]:
    """List the files of a stream as they are now, the oldest first, whether a batch has consumed them or not."""
    return SOURCES[stream.format].list_files(stream)


def table_columns(stream: Stream) -> TableColumns | None:
    """Return the columns as a table's own schema has them; None where every file says its own."""
    source = SOURCES.get(stream.format)
    return source.read_columns(stream) if source and source.read_columns and not stream.sql else None
