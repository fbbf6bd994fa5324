"""Which files a run without Spark has taken: one record per batch, written before the batch, as Spark's log is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pyarrow import fs

from jobs.engine.warehouse.lifecycle import TAKEN
from jobs.host.storage import Storage
from optimizer.errors import HeddleError

COMPACT_AT = 64  # records; the next one also holds what they hold
File = tuple[str, int]  # path, size


@dataclass(frozen=True)
class Record:
    """The files of a batch; every so often also those of all batches before it, which need no record then."""

    batch: int
    files: list[str]
    earlier: list[str] | None = None


def arrived(path: str) -> list[File]:
    """The files of a stream, the oldest first; hidden ones are not data."""
    storage = Storage(path)
    root = storage.path("").rstrip("/")
    try:
        found = storage.filesystem.get_file_info(fs.FileSelector(root, recursive=True))
    except OSError:
        raise HeddleError(f"{path}: there is no such folder; create it or mend `path` in the catalog") from None
    files = [info for info in found if info.type == fs.FileType.File and not _hidden(info.path[len(root) :])]
    return [(info.path, info.size) for info in sorted(files, key=lambda info: (info.mtime_ns or 0, info.path))]


def sized(paths: Sequence[str]) -> list[File]:
    """Files with their sizes, without those that have vanished."""
    folders = {path.rpartition("/")[0] for path in paths}
    storages = {folder: Storage(folder) for folder in folders}
    found = []
    for path in paths:
        folder, _, name = path.rpartition("/")
        info = storages[folder].filesystem.get_file_info(storages[folder].path(name))
        if info.type == fs.FileType.File:
            found.append((path, info.size))
    return found


def _hidden(name: str) -> bool:
    return any(part.startswith((".", "_")) for part in name.split("/"))


def load_records(storage: Storage) -> list[Record]:
    """The records that are needed, in order."""
    found: list[Record] = []
    for name in sorted(storage.names(TAKEN), reverse=True):
        try:
            found.append(Record(**json.loads(storage.read(name))))
        except (ValueError, TypeError):
            raise HeddleError(
                f"{storage.path(name)}: the record of taken files is damaged; restore it from a backup"
            ) from None
        if found[-1].earlier is not None:
            break
    return found[::-1]


def all_files(records: Sequence[Record]) -> set[str]:
    """Every file that some batch has taken."""
    return {file for record in records for file in (*record.files, *(record.earlier or []))}


def keep_record(storage: Storage, records: list[Record], batch: int, files: Sequence[File]) -> None:
    """Say which files a batch takes, before it takes them."""
    earlier = sorted(all_files(records)) if len(records) >= COMPACT_AT else None
    record = Record(batch, [path for path, _ in files], earlier)
    storage.create(_name(batch), json.dumps(vars(record)).encode())
    if earlier is not None:
        for old in records:
            storage.delete(_name(old.batch))
        records.clear()
    records.append(record)


def _name(batch: int) -> str:
    return f"{TAKEN}/{batch:012d}.json"
