"""Batches by our own record: first one that died, then what a source's log or listing has added since."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from jobs.engine.sources import SOURCES, land_events, tend_landed
from jobs.engine.sources.contract import File, Snapshot, current_files
from jobs.engine.warehouse.consumed_files import add_record, files_in_records, list_consumed_files, load_records
from jobs.runs.run import Run
from optimizer.catalog.model.query import Stream
from optimizer.errors import HeddleError


class LogBatch(NamedTuple):
    """A batch: its number, its files, and the offset of who has read them."""

    batch: int
    files: Sequence[File]
    offset: str


def list_log_batches(run: Run, source: Stream, files_per_batch: int) -> Iterator[LogBatch]:
    """Yield the batches that are due: the one that died, with the files that it had, then the new ones."""
    records = load_records(run.storage)
    for record in records:
        if record.batch > run.manifest.batch:
            require_files(record.files)
            yield LogBatch(record.batch, record.files, record.offset)
    land_events(source)
    run.report.notes += tend_landed(source, run.manifest.offset)
    snapshots = list_snapshots(source, run.manifest.offset)
    consumed = files_in_records(records)
    for files, offset in cut_batches(snapshots, consumed, files_per_batch):
        if files:
            require_files(files)
        elif offset == run.manifest.offset:
            continue
        batch = run.manifest.batch + 1
        records = add_record(run.storage, records, batch, files, offset=offset)
        yield LogBatch(batch, files, offset)


def list_file_batches(run: Run, arrived: Sequence[File], files_per_batch: int) -> Iterator[LogBatch]:
    """Yield the batches of listed files: one that died, if one did; then those that arrived since."""
    records = load_records(run.storage)
    for record in records:
        if record.batch > run.manifest.batch:
            files = run.present(record.files)
            records = add_record(run.storage, records, record.batch, files)
            yield LogBatch(record.batch, files, "")
    consumed = files_in_records(records)
    waiting = [file for file in arrived if file.path not in consumed]
    while waiting:
        files, waiting = run.present(waiting[: files_per_batch or None]), waiting[files_per_batch or len(waiting) :]
        batch = run.manifest.batch + 1
        records = add_record(run.storage, records, batch, files)
        yield LogBatch(batch, files, "")


def require_appends(run: Run, source: Stream, arrived: Sequence[File]) -> None:
    """Refuse a table that lacks files which were evaluated: rows were deleted, or written again."""
    if run.manifest.batch < 0:
        return
    present = {file.path for file in arrived}
    missing = [path for path in list_consumed_files(run.storage, run.manifest) if path not in present]
    if missing:
        raise HeddleError(
            f"{source.path}: the table no longer has {missing[0]}, one of {len(missing)} files that were evaluated: "
            "rows were deleted or written again, and a stream takes appends only; evaluate into a new --warehouse, "
            "which begins with the table as it is then"
        )


def list_snapshots(source: Stream, offset: str) -> list[Snapshot]:
    """List what the log of a source has added since an offset."""
    lister = SOURCES[source.format].list_snapshots
    return lister(source, offset) if lister else []


def cut_batches(
    snapshots: Sequence[Snapshot], consumed: Container[str], files_per_batch: int
) -> Iterator[tuple[list[File], str]]:
    """Yield batches of `files_per_batch` files (0: all at once), each with the offset that is reached after it.

    A batch that ends within a snapshot keeps the offset before it: what it has read of it is on record.

    >>> whole, part = Snapshot("0", "1", [File("a", 1)]), Snapshot("1", "2", [File("b", 1), File("c", 1)])
    >>> [([file.path for file in files], offset) for files, offset in cut_batches([whole, part], {}, 2)]
    [(['a', 'b'], '1'), (['c'], '2')]
    """
    files: list[File] = []
    offset = ""
    for snapshot in snapshots:
        waiting = [file for file in snapshot.files if file.path not in consumed]
        while files_per_batch and len(files) + len(waiting) > files_per_batch:
            room = files_per_batch - len(files)
            yield files + waiting[:room], snapshot.before
            files, waiting = [], waiting[room:]
        files, offset = files + waiting, snapshot.offset
    if offset:
        yield files, offset


def require_files(files: Sequence[File]) -> None:
    """Refuse a batch whose files are gone: the log says that there are events, and nobody can read them."""
    present = {file.path for file in current_files(file.path for file in files)}
    missing = [file.path for file in files if file.path not in present]
    if missing:
        raise HeddleError(
            f"{missing[0]}: the table's log names it, and it is gone, one of {len(missing)}: removed (VACUUM, expiry) "
            "before a batch had read it; restore it, or evaluate into a new --warehouse"
        )
