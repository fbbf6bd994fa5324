"""Landed events: Parquet files of what came by messages, and a log that says which offsets each landing has.

An entry of the log is created by one atomic step after its files are there: what no entry names does not exist, and the
next landing goes on from the offsets of the newest entry. So every message is landed once, whatever is killed when.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.engine.sources.contract import File, Snapshot, chain_snapshots, current_files
from jobs.host.stops import step
from jobs.host.storage import Storage
from optimizer.catalog.model.query import Stream
from optimizer.catalog.sql.durations import parse_duration
from optimizer.errors import HeddleError

LOG, EVENTS, MALFORMED = "log", "events", "malformed"
SPAN = tuple[int, int]  # the first offset, and the one after the last
PLACE = pa.schema([("kafka_partition", pa.int32()), ("kafka_offset", pa.int64())])
MALFORMED_SCHEMA = pa.schema([*PLACE, ("reason", pa.string()), ("value", pa.binary())])
ANEW = "name another path, and evaluate into a new --warehouse: it begins with what the topic has then"


@dataclass(frozen=True)
class Landing:
    """One entry of the log: the messages of each partition that it has, and the files that they are in."""

    number: int
    landing: str  # the identity of the whole log
    topic: str  # the identity of the topic
    landed: int  # microseconds since the epoch
    spans: dict[str, list[int]]  # by partition: the first offset, and the one after the last
    files: list[list[Any]] = field(default_factory=list)  # name, bytes
    malformed: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)  # events, malformed


def newest_landing(stream: Stream) -> Landing | None:
    """Return the newest entry of the log, if something has been landed."""
    names = _entries(Storage(stream.path))
    return _load(Storage(stream.path), names[-1]) if names else None


def next_offsets(landing: Landing | None) -> dict[int, int]:
    """Return the offset from which on each partition waits."""
    return {int(partition): end for partition, (_, end) in landing.spans.items()} if landing else {}


def commit_landing(
    stream: Stream, before: Landing | None, topic: str, spans: Mapping[int, SPAN], events: pa.Table, malformed: pa.Table
) -> Landing:
    """Land events with their offsets: files first, then the entry that makes them exist."""
    storage = Storage(stream.path)
    number = before.number + 1 if before else 0
    spans_before = {partition: [end, end] for partition, (_, end) in before.spans.items()} if before else {}
    entry = Landing(
        number,
        before.landing if before else uuid.uuid4().hex,
        topic,
        time.time_ns() // 1000,
        spans_before | {str(partition): list(span) for partition, span in sorted(spans.items())},
        counts={"events": events.num_rows, "malformed": malformed.num_rows},
    )
    if events.num_rows:
        name = _write(storage, EVENTS, number, events)
        entry = replace(entry, files=[[name, int(storage.filesystem.get_file_info(storage.path(name)).size)]])
    if malformed.num_rows:
        entry = replace(entry, malformed=[_write(storage, MALFORMED, number, malformed)])
    step("landed")
    if not storage.create(_name(number), json.dumps(vars(entry)).encode()):
        raise HeddleError(f"{storage.path(_name(number))}: another run has landed these messages meanwhile; run again")
    step("landing committed")
    return entry


def _write(storage: Storage, folder: str, number: int, table: pa.Table) -> str:
    """Write a file that no other attempt has the name of, down to the disk."""
    name = f"{folder}/{number:012d}-{uuid.uuid4().hex[:12]}.parquet"
    storage.make_folder(folder)
    texts = [column.name for column in table.schema if not pa.types.is_primitive(column.type)]
    pq.write_table(table, storage.path(name), filesystem=storage.filesystem, use_dictionary=texts, compression="lz4")
    if storage.local:
        with Path(storage.path(name)).open("rb") as file:
            os.fsync(file.fileno())
    return name


def sweep_landing(stream: Stream) -> None:
    """Delete the files of landings that died, or whose entries have expired."""
    storage = Storage(stream.path)
    entries = [_load(storage, name) for name in _entries(storage)]
    if not entries:
        return
    named = {str(file[0]) for entry in entries for file in entry.files} | {
        n for entry in entries for n in entry.malformed
    }
    for name in [name for folder in (EVENTS, MALFORMED) for name in storage.names(folder)]:
        # a file with a later number may be of a landing that is under way
        if name not in named and int(name.rpartition("/")[2].partition("-")[0]) <= entries[-1].number:
            storage.delete(name)


def tend_landings(stream: Stream, offset: str) -> list[str]:
    """Drop what has been read up to an offset and is older than the retention; say what is malformed since."""
    last_read = json.loads(offset)["done"] if offset else -1
    _expire(stream, last_read)
    storage = Storage(stream.path)
    entries = (_load(storage, name) for name in _entries(storage) if _number(name) > last_read)
    malformed = sum(entry.counts["malformed"] for entry in entries)
    where = f"are in {stream.path}/{MALFORMED}, with offset and reason"
    topic = stream.options["topic"]
    return [f"{malformed:,} messages of {topic} do not fit the schema and {where}"] if malformed else []


def _expire(stream: Stream, last_read: int) -> None:
    """Delete what was landed longer ago than the stream's retention, and has been evaluated: entries, then files."""
    retention = stream.options.get("retention", "")
    if not retention or last_read < 0:
        return
    storage, before = Storage(stream.path), time.time_ns() // 1000 - parse_duration(retention)
    is_expired = False
    for name in _entries(storage)[:-1]:  # the newest says where the next one begins
        entry = _load(storage, name)
        if entry.number > last_read or entry.landed > before:
            break
        storage.delete(name)
        step("landing expired")
        is_expired = True
    if is_expired:
        sweep_landing(stream)


def list_landed_files(stream: Stream) -> list[File]:
    """List the files of landed events, the oldest first."""
    storage = Storage(stream.path)
    files = [file for name in _entries(storage) for file in _files(storage, _load(storage, name))]
    present = {file.path: file for file in current_files(file.path for file in files)}
    return [present[file.path] for file in files if file.path in present]


def list_landings(stream: Stream, offset: str) -> list[Snapshot]:
    """List the landings since an offset, each with its files; at first, all that the log still has.

    An offset is the identity of the log, and the number of the last landing that was read whole."""
    storage = Storage(stream.path)
    names = _entries(storage)
    if not names and not offset:
        return []
    oldest = _load(storage, names[0]) if names else None
    begun = {"landing": oldest.landing if oldest else "", "done": _number(names[0]) - 1 if names else -1}
    own: dict[str, Any] = json.loads(offset) if offset else begun
    if oldest is None or own["landing"] != oldest.landing:
        raise HeddleError(f"{stream.path}: has other landed events than the batches before have read; {ANEW}")
    if oldest.number > own["done"] + 1:
        raise HeddleError(
            f"{stream.path}: landed events expired before this warehouse has read them; raise `retention`, and "
            "evaluate into a new --warehouse"
        )
    entries = [_load(storage, name) for name in names if _number(name) > own["done"]]
    versions = [(json.dumps({**own, "done": entry.number}), _files(storage, entry)) for entry in entries]
    return chain_snapshots(json.dumps(own), versions)


def read_malformed(stream: Stream) -> pa.Table:
    """Read the quarantine: the messages that do not fit, each with its partition, its offset and the reason."""
    storage = Storage(stream.path)
    names = [name for entry in _entries(storage) for name in _load(storage, entry).malformed]
    tables = [pq.read_table(storage.path(name), filesystem=storage.filesystem, partitioning=None) for name in names]
    return pa.concat_tables(tables) if tables else MALFORMED_SCHEMA.empty_table()


def _files(storage: Storage, entry: Landing) -> list[File]:
    return [File(storage.uri(str(name)), int(size)) for name, size in entry.files]


def _entries(storage: Storage) -> list[str]:
    return sorted(name for name in storage.names(LOG) if name.endswith(".json"))


def _name(number: int) -> str:
    return f"{LOG}/{number:012d}.json"


def _number(name: str) -> int:
    return int(name.rpartition("/")[2].removesuffix(".json"))


def _load(storage: Storage, name: str) -> Landing:
    try:
        return Landing(**json.loads(storage.read(name)))
    except (ValueError, TypeError):
        raise HeddleError(
            f"{storage.path(name)}: the log of landed events is damaged; restore it from a backup"
        ) from None
