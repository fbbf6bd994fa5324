"""The raw events that have been evaluated, as far back as they are needed and as far as their files are still there.

A file that was written again since is gone: its events are others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from jobs.engine.events.input_files import File, current_files
from jobs.engine.warehouse.consumed_files import consumed_files, is_rewritten
from jobs.engine.warehouse.manifest import Manifest, latest_of_batch
from jobs.host.storage import Storage
from optimizer.windows.window import BEGINNING


class PastBatch(NamedTuple):
    """A batch of the past: its files, and the watermark when they came."""

    batch: int
    emitted: int
    files: Sequence[File]


@dataclass(frozen=True)
class RawEvents:
    """Raw events: the files that are still there, by batch, and the time from which on none of their events is gone."""

    batches: Sequence[PastBatch] = ()
    since: int = BEGINNING

    @property
    def files(self) -> list[File]:
        """The files of all batches."""
        return [file for batch in self.batches for file in batch.files]


def raw_events(storage: Storage, manifest: Manifest, since: int) -> RawEvents:
    """Return the files that may hold events since a time; the marks of the batches spare those that cannot."""
    consumed = consumed_files(storage, manifest)
    latest = {path: _latest(manifest, batch) for path, (batch, _) in consumed.items()}
    wanted = sorted(path for path in consumed if latest[path] >= since)
    kept = {file.path: file for file in current_files(wanted) if not is_rewritten(consumed[file.path][1], file)}
    batches: dict[int, list[File]] = {}
    for path in wanted:
        if path in kept:
            batches.setdefault(consumed[path][0], []).append(kept[path])
    # a file that is gone held no event after the latest of its batch
    complete = max([BEGINNING, *(latest[path] + 1 for path in wanted if path not in kept)])
    return RawEvents(
        [PastBatch(batch, _emitted(manifest, batch), batches[batch]) for batch in sorted(batches)], complete
    )


def _emitted(manifest: Manifest, batch: int) -> int:
    """Return the watermark when a batch came, or an earlier one where the marks do not tell any more."""
    return max((mark.watermark for mark in manifest.marks if mark.batch < batch), default=BEGINNING)


def _latest(manifest: Manifest, batch: int) -> int:
    latest = latest_of_batch(manifest.marks, batch)
    return manifest.latest if latest is None else latest
