"""Which files of a stream the committed batches have taken, by Spark's own record or by that of a run without Spark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from jobs.engine.manifest import Manifest
from jobs.engine.storage import Storage
from jobs.engine.taken import all_files, load_records
from jobs.engine.warehouse import CHECKPOINT, TAKEN
from optimizer.errors import HeddleError

SOURCE = f"{CHECKPOINT}/sources/0"


def taken_files(storage: Storage, manifest: Manifest) -> list[str]:
    """Every file whose events have been evaluated; those that arrived since, or that a dead run took, are not."""
    if any(storage.names(TAKEN)):
        return sorted(all_files([record for record in load_records(storage) if record.batch <= manifest.batch]))
    try:
        offset = json.loads(_lines(storage, f"{CHECKPOINT}/offsets/{manifest.batch}")[-1])["logOffset"]
        return sorted({_plain(entry["path"]) for entry in _log(storage) if entry["batchId"] <= offset})
    except (OSError, ValueError, KeyError, IndexError):
        raise HeddleError(
            f"{storage.path(CHECKPOINT)}: does not tell which files were evaluated; restore it from a backup"
        ) from None


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


def _plain(uri: str) -> str:
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme in ("", "file") else uri
