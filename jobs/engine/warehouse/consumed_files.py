"""Consumed files: which input files the committed batches took, by our own record or by Spark's checkpoint.

A run writes one record per batch before it evaluates the batch, as Spark's log does, with the size and time of every
file; warehouses of older versions have only Spark's log. The raw events in those files can be read again as far as
the files are still there: a file that was written again since is gone, its events are others.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from jobs.engine.sources.contract import File, current_files, data_files
from jobs.engine.warehouse.lifecycle import CHECKPOINT, TAKEN
from jobs.engine.warehouse.manifest import Manifest, latest_of_batch
from jobs.host.storage import Storage
from optimizer.catalog.model.query import Stream
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING

SOURCE = f"{CHECKPOINT}/sources/0"
ODD = frozenset("%?#;")  # characters that mean something in an address
COMPACT_AT = 64  # records; the next one also lists the files of all of them


@dataclass(frozen=True)
class Record:
    """The files of a batch; every so often also those of all batches before it, which need no record then."""

    batch: int
    files: list[File]
    earlier: list[File] | None = None
    offset: str = ""  # of a source with a log: how far it has been read with this batch
    batches: list[int] | None = None  # of the earlier files; older versions did not write them down

    def by_file(self) -> Iterator[tuple[str, tuple[int, File]]]:
        """Yield every file that it tells of with its batch, or with a later one where it does not tell any more."""
        for place, file in enumerate(self.earlier or ()):
            yield file.path, (self.batches[place] if self.batches else self.batch - 1, file)
        yield from ((file.path, (self.batch, file)) for file in self.files)


def list_consumed_files(storage: Storage, manifest: Manifest) -> list[str]:
    """List the files whose events have been evaluated, without those that arrived since or that a dead run took."""
    return sorted(batch_by_file(storage, manifest))


def batch_by_file(storage: Storage, manifest: Manifest) -> dict[str, int]:
    """Return the batch that consumed each file, or a later batch where a compact record does not tell any more."""
    return {path: batch for path, (batch, _) in consumed_files(storage, manifest).items()}


def consumed_files(storage: Storage, manifest: Manifest) -> dict[str, tuple[int, File]]:
    """Return the batch that consumed each file, and the file as it was then."""
    records = load_records(storage)
    if not records:
        return {path: (batch, File(path, 0)) for path, batch in _batch_by_checkpoint(storage, manifest).items()}
    consumed = {path: entry for record in records for path, entry in record.by_file()}
    return {path: entry for path, entry in consumed.items() if entry[0] <= manifest.batch}


def load_records(storage: Storage) -> list[Record]:
    """Load our own records from the last compact one on, in the order of the batches."""
    while True:
        try:
            return _load_listed(storage)
        except FileNotFoundError:  # since it was listed, a run has made the records compact
            continue


def _load_listed(storage: Storage) -> list[Record]:
    records: list[Record] = []
    for name in sorted(storage.names(TAKEN), reverse=True):
        try:
            records.append(_parse_record(json.loads(storage.read(name))))
        except (ValueError, TypeError, KeyError):
            raise HeddleError(
                f"{storage.path(name)}: the record of taken files is damaged; restore it from a backup"
            ) from None
        if records[-1].earlier is not None:
            break
    return records[::-1]


def _parse_record(content: dict[str, Any]) -> Record:
    """Return a record; those of older versions have names alone."""

    def files(entries: list[Any]) -> list[File]:
        return [File(entry, 0) if isinstance(entry, str) else File(*entry) for entry in entries]

    earlier = content["earlier"]
    batch, offset = int(content["batch"]), str(content.get("offset", ""))
    past = None if earlier is None else files(earlier)
    return Record(batch, files(content["files"]), past, offset, content.get("batches"))


def files_in_records(records: Sequence[Record]) -> dict[str, File]:
    """Return every file that some batch has consumed, as it was then."""
    return {file.path: file for record in records for file in (*(record.earlier or []), *record.files)}


def is_rewritten(before: File, now: File) -> bool:
    """Return whether a file has another content than when it was consumed, as far as its size and time tell."""
    return bool(before.modified) and before[:3] != now[:3]


def add_record(
    storage: Storage,
    records: Sequence[Record],
    batch: int,
    files: Sequence[File],
    earlier: list[File] | None = None,
    offset: str = "",
) -> list[Record]:
    """Write down which files a batch consumes, before it does, and return the records that count from now on.

    A batch that died may have a record already, of files that have vanished or changed since. One that also tells of
    all batches before stays as it is: nothing else does."""
    old = next((record for record in records if record.batch == batch), None)
    if old is not None:
        if old.files == list(files) or old.earlier is not None:
            return list(records)
        storage.delete(_record_name(batch))
        records = [record for record in records if record is not old]
    is_compact = earlier is None and len(records) >= COMPACT_AT
    past, batches = earlier, None
    if is_compact:
        consumed = sorted(dict(entry for record in records for entry in record.by_file()).values())
        past, batches = [file for _, file in consumed], [batch for batch, _ in consumed]
    record = Record(batch, list(files), past, offset, batches)
    require_own_record(storage, batch, storage.create(_record_name(batch), json.dumps(vars(record)).encode()))
    if not is_compact:
        return [*records, record]
    for old in records:
        storage.delete(_record_name(old.batch))
    return [record]


def require_own_record(storage: Storage, batch: int, is_created: bool) -> None:
    """Refuse to go on where another run has written the record of this batch: it may have other files."""
    if not is_created:
        raise HeddleError(
            f"{storage.path(_record_name(batch))}: another run has begun this batch meanwhile; run again after it"
        )


def offered_files(storage: Storage, batch: int, source: Stream) -> list[File]:
    """Return the files of a batch that Spark is about to begin: those that it lists and the stream's options take."""
    return data_files(source, current_files(files_of_batch(storage, batch)))


def earlier_files(storage: Storage, manifest: Manifest, records: Sequence[Record]) -> list[File] | None:
    """Return the files of a warehouse whose batches an older version left to Spark's log; None where records tell."""
    if records or manifest.batch < 0:
        return None
    return [File(path, 0) for path in _batch_by_checkpoint(storage, manifest)]


def files_of_batch(storage: Storage, batch: int) -> list[str]:
    """Return the files that Spark has put into a batch which is about to begin: Spark writes its record before."""
    try:
        first = _log_offset(storage, batch - 1) + 1 if batch else 0
        numbers = range(first, _log_offset(storage, batch) + 1)
        return [plain_path(path) for number in numbers for path in _log_entry(storage, number)]
    except (OSError, ValueError, KeyError, IndexError):
        raise _unreadable_checkpoint(storage) from None


def last_begun(storage: Storage) -> int:
    """Return the last batch that Spark has numbered, whether it came to an end or not; -1 where there is none."""
    names = (name.rpartition("/")[2] for name in storage.names(f"{CHECKPOINT}/offsets"))
    return max(map(int, filter(str.isdigit, names)), default=-1)


def plain_path(uri: str) -> str:
    """Return the path that our records have for what Spark calls a file.

    >>> plain_path("file:///data/a.parquet"), plain_path("file:///data/a%20b.parquet"), plain_path("s3a://b/c%20d")
    ('/data/a.parquet', '/data/a b.parquet', 's3a://b/c d')
    """
    if uri.startswith("file:///") and not ODD & set(uri):  # most are: a batch may have thousands
        return uri[len("file://") :]
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme in ("", "file") else unquote(uri)


def _record_name(batch: int) -> str:
    return f"{TAKEN}/{batch:012d}.json"


def _batch_by_checkpoint(storage: Storage, manifest: Manifest) -> dict[str, int]:
    try:
        return _read_checkpoint(storage, manifest)
    except (OSError, ValueError, KeyError, IndexError):
        raise _unreadable_checkpoint(storage) from None


def _read_checkpoint(storage: Storage, manifest: Manifest) -> dict[str, int]:
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
    paths = sorted(path for path in consumed if latest[path] >= since)
    before = {path: file for path, (_, file) in consumed.items()}
    now = [file._replace(values=before[file.path].values) for file in current_files(paths)]
    unchanged = {file.path: file for file in now if not is_rewritten(before[file.path], file)}
    batches: dict[int, list[File]] = {}
    for path in paths:
        if path in unchanged:
            batches.setdefault(consumed[path][0], []).append(unchanged[path])
    # a file that is gone held no event after the latest of its batch
    complete = max([BEGINNING, *(latest[path] + 1 for path in paths if path not in unchanged)])
    return RawEvents(
        [PastBatch(batch, _watermark_at(manifest, batch), batches[batch]) for batch in sorted(batches)], complete
    )


def _watermark_at(manifest: Manifest, batch: int) -> int:
    """Return the watermark when a batch came, or an earlier one where the marks do not tell any more."""
    return max((mark.watermark for mark in manifest.marks if mark.batch < batch), default=BEGINNING)


def _latest(manifest: Manifest, batch: int) -> int:
    latest = latest_of_batch(manifest.marks, batch)
    return manifest.latest if latest is None else latest
