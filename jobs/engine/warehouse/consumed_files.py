"""Consumed files: which input files the committed batches took, by our own record or by Spark's checkpoint.

A run without Spark writes one record per batch before it evaluates the batch, as Spark's log does.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from jobs.engine.warehouse.input_files import File
from jobs.engine.warehouse.lifecycle import CHECKPOINT, TAKEN
from jobs.engine.warehouse.manifest import Manifest
from jobs.host.storage import Storage
from optimizer.errors import HeddleError

SOURCE = f"{CHECKPOINT}/sources/0"
COMPACT_AT = 64  # records; the next one also lists the files of all of them


@dataclass(frozen=True)
class Record:
    """The files of a batch; every so often also those of all batches before it, which need no record then."""

    batch: int
    files: list[str]
    earlier: list[str] | None = None


def list_consumed_files(storage: Storage, manifest: Manifest) -> list[str]:
    """List the files whose events have been evaluated, without those that arrived since or that a dead run took."""
    return sorted(batch_by_file(storage, manifest))


def batch_by_file(storage: Storage, manifest: Manifest) -> dict[str, int]:
    """Return the batch that consumed each file, or a later batch where a compact record does not tell any more."""
    if any(storage.names(TAKEN)):
        return _batch_by_record(storage, manifest)
    try:
        return _batch_by_checkpoint(storage, manifest)
    except (OSError, ValueError, KeyError, IndexError):
        raise _unreadable_checkpoint(storage) from None


def load_records(storage: Storage) -> list[Record]:
    """Load our own records from the last compact one on, in the order of the batches."""
    records: list[Record] = []
    for name in sorted(storage.names(TAKEN), reverse=True):
        try:
            records.append(Record(**json.loads(storage.read(name))))
        except (ValueError, TypeError):
            raise HeddleError(
                f"{storage.path(name)}: the record of taken files is damaged; restore it from a backup"
            ) from None
        if records[-1].earlier is not None:
            break
    return records[::-1]


def files_in_records(records: Sequence[Record]) -> set[str]:
    """Return every file that some batch has consumed."""
    return {file for record in records for file in (*record.files, *(record.earlier or []))}


def add_record(storage: Storage, records: Sequence[Record], batch: int, files: Sequence[File]) -> list[Record]:
    """Write down which files a batch consumes, before it does, and return the records that count from now on."""
    earlier = sorted(files_in_records(records)) if len(records) >= COMPACT_AT else None
    record = Record(batch, [path for path, _ in files], earlier)
    storage.create(_record_name(batch), json.dumps(vars(record)).encode())
    if earlier is None:
        return [*records, record]
    for old in records:
        storage.delete(_record_name(old.batch))
    return [record]


def files_of_batch(storage: Storage, batch: int) -> list[str]:
    """Return the files that Spark has put into a batch which is about to begin: Spark writes its record before."""
    try:
        first = _log_offset(storage, batch - 1) + 1 if batch else 0
        numbers = range(first, _log_offset(storage, batch) + 1)
        return [plain_path(path) for number in numbers for path in _log_entry(storage, number)]
    except (OSError, ValueError, KeyError, IndexError):
        raise _unreadable_checkpoint(storage) from None


def plain_path(uri: str) -> str:
    """Return the path that our records have for what Spark calls a file."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme in ("", "file") else uri


def _record_name(batch: int) -> str:
    return f"{TAKEN}/{batch:012d}.json"


def _batch_by_record(storage: Storage, manifest: Manifest) -> dict[str, int]:
    batches: dict[str, int] = {}
    for record in load_records(storage):
        if record.batch <= manifest.batch:
            batches |= dict.fromkeys(record.earlier or (), record.batch - 1)
            batches |= dict.fromkeys(record.files, record.batch)
    return batches


def _batch_by_checkpoint(storage: Storage, manifest: Manifest) -> dict[str, int]:
    names = (name.rpartition("/")[2] for name in storage.names(f"{CHECKPOINT}/offsets"))
    batches = sorted(batch for batch in map(int, filter(str.isdigit, names)) if batch <= manifest.batch)
    if not batches or batches[-1] != manifest.batch:
        raise KeyError(manifest.batch)
    offsets = [_log_offset(storage, batch) for batch in batches]
    return {
        plain_path(entry["path"]): batches[bisect_left(offsets, entry["batchId"])]
        for entry in _log_entries(storage)
        if entry["batchId"] <= offsets[-1]
    }


def _log_offset(storage: Storage, batch: int) -> int:
    """Return how far a batch has come in Spark's log of files, whose entries have numbers of their own."""
    return int(json.loads(_lines(storage, f"{CHECKPOINT}/offsets/{batch}")[-1])["logOffset"])


def _log_entry(storage: Storage, number: int) -> list[str]:
    """Return the files of one entry of Spark's log, which may be in a compact one."""
    names = {name.rpartition("/")[2] for name in storage.names(SOURCE)}
    name = str(number) if str(number) in names else f"{number}.compact"
    entries = map(json.loads, _lines(storage, f"{SOURCE}/{name}"))
    return [entry["path"] for entry in entries if entry["batchId"] == number]


def _log_entries(storage: Storage) -> Iterator[dict[str, Any]]:
    """Read Spark's log of files: one file an entry, every so often all entries in one file that is called compact."""
    names = {name.rpartition("/")[2]: name for name in storage.names(SOURCE)}
    compact = max((int(name.removesuffix(".compact")) for name in names if name.endswith(".compact")), default=-1)
    later = [name for name in names if name.isdigit() and int(name) > compact]
    for name in (*([f"{compact}.compact"] if compact >= 0 else []), *later):
        yield from map(json.loads, _lines(storage, names[name]))


def _lines(storage: Storage, name: str) -> list[str]:
    """Return the lines of a file of the checkpoint after the first, which is the version of the format."""
    return storage.read(name).decode().splitlines()[1:]


def _unreadable_checkpoint(storage: Storage) -> HeddleError:
    return HeddleError(
        f"{storage.path(CHECKPOINT)}: does not tell which files were evaluated; restore it from a backup"
    )
