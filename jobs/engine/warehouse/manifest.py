"""Manifests: a batch exists when its manifest does. Each names every live file, so that the newest one is enough.

A manifest also has a mark per batch: how far event time and the watermark had come, so that old input files need not be
opened to know that their events are too old.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from jobs.host.storage import Storage
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING

FOLDER = "manifests"
PARTS = ("results", "state", "late")
ENDLESS = 1 << 62
MOST_MARKS = 256  # beyond it, every second one of the older half is forgotten


class Mark(NamedTuple):
    """After a batch: the largest event time seen, and the watermark. No file of the batch holds a later event."""

    batch: int
    latest: int
    watermark: int


@dataclass(frozen=True)
class DataFile:
    """A file of answers, slices or late events: its bucket, the batch that wrote it, and how often it was merged."""

    name: str
    bucket: int
    rows: int
    batch: int
    grouping: str = ""
    tier: int = 0
    shelf: str = ""  # of a state file: which slices or chunks it holds; "" for all that a batch added
    first: int = BEGINNING  # of a state file: no row starts earlier,
    last: int = ENDLESS  # and none later
    expires: int = ENDLESS  # of a state file: the watermark from which on no row is needed
    revised: bool = False  # of a result file: whether some rows are revisions, which say so in a column


OMITTED = {"shelf": "", "first": BEGINNING, "last": ENDLESS, "expires": ENDLESS, "revised": False}  # where it is so


@dataclass(frozen=True)
class Progress:
    """How far a stream has come: the newest batch, event time, and what of the source has been read."""

    sequence: int = -1  # of the manifest: a batch has one, and the closing that ends a run another
    batch: int = -1
    watermark: int = BEGINNING  # windows that end at or before it have been emitted
    latest: int = BEGINNING  # the largest event time seen
    marks: tuple[Mark, ...] = ()
    offset: str = ""  # of a source with a log: how far the batches so far have read it
    corrected_after: int | None = None  # where windows are corrected: those that end after it have missed no event


@dataclass(frozen=True)
class LiveFiles:
    """The data files that count. A file that no manifest names was written by a batch that died."""

    results: tuple[DataFile, ...] = ()
    state: tuple[DataFile, ...] = ()  # of every bucket the base first, then the deltas
    late: tuple[DataFile, ...] = ()
    standing: str = ""  # the file that says what the retained slices hold, and from when on each query is answered

    def files(self) -> set[str]:
        """Return the names of all data files."""
        return {file.name for file in (*self.results, *self.state, *self.late)} | ({self.standing} - {""})


@dataclass(frozen=True)
class Manifest(LiveFiles, Progress):
    """The whole state of a warehouse after one batch (or after the closing that ends a run).

    On disk it is flat: an entry for every field, those of its two parts among them.
    """

    plan: str = ""
    buckets: int = 0
    types: dict[str, str] = field(default_factory=dict)  # of every expression ever folded, so that answers can be read
    counts: dict[str, Any] = field(default_factory=dict)
    backfill: bool = False  # a past interval, to which nothing is added


def manifest_name(sequence: int) -> str:
    """Return the name of a manifest; names sort in the order of their sequence."""
    return f"{FOLDER}/{sequence:012d}.json"


def manifest_names(storage: Storage) -> list[str]:
    """List all manifests, the newest last."""
    return sorted(name for name in storage.names(FOLDER) if name.endswith(".json"))


def newest(storage: Storage) -> Manifest:
    """Load the manifest in force, or return the empty one of a new warehouse."""
    names = manifest_names(storage)
    return load(storage, names[-1]) if names else Manifest()


def load_past(storage: Storage, names: Iterable[str]) -> Iterator[Manifest]:
    """Load manifests that are history, without those that are damaged."""
    for name in names:
        with suppress(HeddleError):
            yield load(storage, name)


def load(storage: Storage, name: str) -> Manifest:
    """Read a manifest and check that it is whole."""
    try:
        document = json.loads(storage.read(name))
        digest = document.pop("digest")
        whole = digest == _digest(document)
        files: dict[str, Any] = {part: tuple(map(_to_file, document.pop(part))) for part in PARTS}
        marks = tuple(Mark(*mark) for mark in document.pop("marks"))
        manifest = Manifest(**files, marks=marks, **document)
    except (ValueError, KeyError, TypeError, AttributeError):
        whole = False
    if not whole:
        raise HeddleError(
            f"{storage.path(name)}: the manifest is damaged; restore this file from a backup, then run again"
        )
    return manifest


def commit(storage: Storage, manifest: Manifest) -> None:
    """Make a batch exist, by one atomic step.

    Where no lock keeps other runs out, one of them may have committed so many batches meanwhile that the manifest of
    this name has been swept away: then this one is history from its first moment on, and so is the run."""
    document: dict[str, Any] = {**vars(manifest)}
    if manifest.corrected_after is None:
        del document["corrected_after"]
    for part in PARTS:
        document[part] = [_from_file(file) for file in document[part]]
    content = json.dumps({**document, "digest": _digest(document)}, separators=(",", ":")).encode()
    name = manifest_name(manifest.sequence)
    is_newest = storage.create(name, content) and (storage.local or manifest_names(storage)[-1] == name)
    if not is_newest:
        raise HeddleError(f"{storage.path(name)}: another run committed this batch meanwhile; run again")


def add_mark(marks: Sequence[Mark], mark: Mark) -> tuple[Mark, ...]:
    """Return the marks with one more; the closing after a batch takes the place of the batch."""
    earlier = [old for old in marks if old.batch < mark.batch]
    if len(earlier) >= MOST_MARKS:
        half = len(earlier) // 2
        earlier = earlier[1:half:2] + earlier[half:]
    return (*earlier, mark)


def has_all_marks(marks: Sequence[Mark], batch: int) -> bool:
    """Return whether no mark up to a batch has been forgotten."""
    return len(marks) > batch


def latest_of_batch(marks: Sequence[Mark], batch: int) -> int | None:
    """Return a time after which no event of a batch is; None when no mark tells."""
    return next((mark.latest for mark in marks if mark.batch >= batch), None)


def emitted_span(marks: Sequence[Mark], batch: int) -> tuple[int, int] | None:
    """Return the span in which the windows end that a batch and its closing emitted: after the first time, up to the
    second. None when the marks do not tell any more."""
    for before, mark in zip((None, *marks), marks, strict=False):
        if mark.batch == batch and (batch == 0 or (before and before.batch == batch - 1)):
            return (before.watermark if before else BEGINNING), mark.watermark
    return None


def _to_file(entry: dict[str, Any]) -> DataFile:
    """Return a file by its entry in a manifest, where its tier has been called level from the first warehouse on."""
    return DataFile(**{"tier" if name == "level" else name: value for name, value in entry.items()})


def _from_file(file: DataFile) -> dict[str, Any]:
    entry = vars(file)
    fields = {name: entry[name] for name in entry if name not in OMITTED or entry[name] != OMITTED[name]}
    return {"level" if name == "tier" else name: value for name, value in fields.items()}


def _digest(document: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:16]
