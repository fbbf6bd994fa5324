"""The raw events that have been evaluated, as far back as they are needed and as far as their files are still there."""

from __future__ import annotations

from pyarrow import fs

from jobs.engine.adopt import Raw, Replayed
from jobs.engine.manifest import BEGINNING, Manifest
from jobs.engine.marks import latest_of
from jobs.engine.storage import Storage
from jobs.engine.taken import File
from jobs.taken_files import taken_in


def raw_events(storage: Storage, manifest: Manifest, since: int) -> Raw:
    """The files that may hold events since a time; the marks of the batches spare those that cannot."""
    batches: dict[int, list[File]] = {}
    complete = BEGINNING
    for path, batch in sorted(taken_in(storage, manifest).items()):
        latest = _latest(manifest, batch)
        if latest < since:
            continue
        size = size_of(path)
        if size is None:  # it held no event after the latest of its batch
            complete = max(complete, latest + 1)
        else:
            batches.setdefault(batch, []).append((path, size))
    return Raw([Replayed(batch, _emitted(manifest, batch), batches[batch]) for batch in sorted(batches)], complete)


def size_of(path: str) -> int | None:
    """The size of a file; None when it is gone."""
    folder, _, name = path.rpartition("/")
    storage = Storage(folder)
    found = storage.filesystem.get_file_info(storage.path(name))
    return int(found.size) if found.type == fs.FileType.File else None


def _emitted(manifest: Manifest, batch: int) -> int:
    """The watermark when a batch came, or an earlier one where the marks do not tell any more."""
    return max((mark.watermark for mark in manifest.marks if mark.batch < batch), default=BEGINNING)


def _latest(manifest: Manifest, batch: int) -> int:
    known = latest_of(manifest.marks, batch)
    return manifest.latest if known is None else known
