"""Batches of files that are listed once: Structured Streaming numbers them, and finds a mark for each that is due.

Spark itself would list the folder three times for a batch, and look for each of its files once more.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from jobs.engine.sources.contract import File
from jobs.engine.warehouse.consumed_files import earlier_files, files_in_records, last_begun, load_records
from jobs.engine.warehouse.lifecycle import CHECKPOINT, DRAFT_SECONDS
from jobs.engine.warehouse.manifest import Manifest
from jobs.host.storage import Storage

DUE = f"{CHECKPOINT}/due"


@dataclass
class DueBatches:
    """The files that no batch has taken, the oldest first, and how many make a batch (0: all of them)."""

    waiting: list[File]
    files_per_batch: int
    folder: str = ""  # of the marks, below the warehouse; "" where nothing is due

    def take_next(self) -> list[File]:
        """Take the files of the next batch."""
        count = self.files_per_batch or len(self.waiting)
        files, self.waiting = self.waiting[:count], self.waiting[count:]
        return files


@contextmanager
def mark_batches(
    storage: Storage, manifest: Manifest, arrived: Sequence[File], files_per_batch: int
) -> Iterator[DueBatches]:
    """Mark the batches that are due, each by a file that Structured Streaming takes as one; remove them at last."""
    records = load_records(storage)
    consumed = files_in_records(records)
    consumed |= {file.path: file for file in earlier_files(storage, manifest, records) or ()}
    waiting = [file for file in arrived if file.path not in consumed]
    # a batch that Spark has numbered and not ended comes again: with the files of our record, or with the next ones
    begun = last_begun(storage)
    is_open = begun > manifest.batch
    has_files = any(record.batch == begun for record in records)
    _forget_dead(storage)
    if not waiting and not is_open:
        yield DueBatches([], files_per_batch)
        return
    due = DueBatches(waiting, files_per_batch, f"{DUE}/{uuid.uuid4().hex}")
    storage.make_folder(due.folder)
    count = -(-len(waiting) // (files_per_batch or max(1, len(waiting))))
    names = [f"{due.folder}/{number:012d}" for number in range(count - (is_open and not has_files))]
    for name in names:
        storage.create(name, b"", durable=False)
    try:
        yield due
    finally:
        for name in names:
            storage.delete(name)
        storage.remove_folder(due.folder)


def _forget_dead(storage: Storage) -> None:
    """Remove the marks of runs that died: on a local disk no other run is under way, elsewhere those of old ones."""
    if storage.local:
        storage.remove_folder(DUE)
        return
    for name in list(storage.names(DUE, time.time() - DRAFT_SECONDS)):
        storage.delete(name)
