"""Which files of a stream the committed batches have taken, by Spark's own record or by that of a run without Spark."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from jobs.engine.warehouse.input_files import load_records
from jobs.engine.warehouse.lifecycle import CHECKPOINT, TAKEN
from jobs.engine.warehouse.manifest import Manifest
from jobs.host.storage import Storage
from optimizer.errors import HeddleError

SOURCE = f"{CHECKPOINT}/sources/0"


def taken_files(storage: Storage, manifest: Manifest) -> list[str]:
    """Every file whose events have been evaluated; those that arrived since, or that a dead run took, are not."""
    return sorted(taken_in(storage, manifest))


def taken_in(storage: Storage, manifest: Manifest) -> dict[str, int]:
    """The same files, each with the batch that took it, or a later one where the record does not tell any more."""
    if any(storage.names(TAKEN)):
        return _by_records(storage, manifest)
    try:
        return _by_log(storage, manifest)
    except (OSError, ValueError, KeyError, IndexError):
        raise _untold(storage) from None


def files_of(storage: Storage, batch: int) -> list[str]:
    """The files that Spark has put into a batch which is about to begin: its record is there before."""
    try:
        first = _reached(storage, batch - 1) + 1 if batch else 0
        return [
            plain_path(path) for number in range(first, _reached(storage, batch) + 1) for path in _put(storage, number)
        ]
    except (OSError, ValueError, KeyError, IndexError):
        raise _untold(storage) from None


def _put(storage: Storage, number: int) -> list[str]:
    """The files of one entry of Spark's log, which may be in a compact one."""
    names = {name.rpartition("/")[2] for name in storage.names(SOURCE)}
    name = str(number) if str(number) in names else f"{number}.compact"
    entries = map(json.loads, _lines(storage, f"{SOURCE}/{name}"))
    return [entry["path"] for entry in entries if entry["batchId"] == number]


def _reached(storage: Storage, batch: int) -> int:
    """How far in Spark's log of files a batch has come; the log has numbers of its own."""
    return int(json.loads(_lines(storage, f"{CHECKPOINT}/offsets/{batch}")[-1])["logOffset"])


def _untold(storage: Storage) -> HeddleError:
    return HeddleError(
        f"{storage.path(CHECKPOINT)}: does not tell which files were evaluated; restore it from a backup"
    )


def _by_records(storage: Storage, manifest: Manifest) -> dict[str, int]:
    found: dict[str, int] = {}
    for record in load_records(storage):
        if record.batch <= manifest.batch:
            found |= dict.fromkeys(record.earlier or (), record.batch - 1)
            found |= dict.fromkeys(record.files, record.batch)
    return found


def _by_log(storage: Storage, manifest: Manifest) -> dict[str, int]:
    names = (name.rpartition("/")[2] for name in storage.names(f"{CHECKPOINT}/offsets"))
    batches = sorted(batch for batch in map(int, filter(str.isdigit, names)) if batch <= manifest.batch)
    if not batches or batches[-1] != manifest.batch:
        raise KeyError(manifest.batch)
    reached = [_reached(storage, batch) for batch in batches]
    return {
        plain_path(entry["path"]): batches[bisect_left(reached, entry["batchId"])]
        for entry in _log(storage)
        if entry["batchId"] <= reached[-1]
    }


def _log(storage: Storage) -> Iterator[dict[str, Any]]:
    """Spark's log of files: one entry a batch, every so often all of them in one that is called compact."""
    names = {name.rpartition("/")[2]: name for name in storage.names(SOURCE)}
    compact = max((int(name.removesuffix(".compact")) for name in names if name.endswith(".compact")), default=-1)
    wanted = [name for name in names if name.isdigit() and int(name) > compact]
    for name in (*([f"{compact}.compact"] if compact >= 0 else []), *wanted):
        yield from map(json.loads, _lines(storage, names[name]))


def _lines(storage: Storage, name: str) -> list[str]:
    """The lines after the first, which is the version of the format."""
    return storage.read(name).decode().splitlines()[1:]


def plain_path(uri: str) -> str:
    """A path as the record has it, from what Spark calls the file."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme in ("", "file") else uri
