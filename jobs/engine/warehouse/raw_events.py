"""The raw events that have been evaluated, as far back as they are needed and as far as their files are still there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pyarrow import fs

from jobs.engine.program.clock import BEGINNING
from jobs.engine.warehouse.consumed_files import taken_in
from jobs.engine.warehouse.input_files import File
from jobs.engine.warehouse.manifest import Manifest
from jobs.engine.warehouse.marks import latest_of
from jobs.host.storage import Storage


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


class Replayed(NamedTuple):
    """A batch of the past: its files, and the watermark when they came."""

    batch: int
    emitted: int
    files: Sequence[File]


@dataclass(frozen=True)
class Raw:
    """Raw events: the files that are still there, by batch, and the time from which on none of their events is gone."""

    batches: Sequence[Replayed] = ()
    since: int = BEGINNING

    @property
    def files(self) -> list[File]:
        """All files."""
        return [file for batch in self.batches for file in batch.files]
