"""Manifests: a batch exists when its manifest does. Each names every live file, so that the newest one is enough."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from jobs.engine.program.clock import BEGINNING
from jobs.engine.warehouse.marks import Mark
from jobs.host.storage import Storage
from optimizer.errors import HeddleError

FOLDER = "manifests"
PARTS = ("results", "state", "late")


@dataclass(frozen=True)
class DataFile:
    """A file of answers, slices or late events: its bucket, the batch that wrote it, and how often it was merged."""

    name: str
    bucket: int
    rows: int
    batch: int
    grouping: str = ""
    level: int = 0


@dataclass(frozen=True)
class Manifest:
    """The whole state of a warehouse after one batch (or after the closing that ends a run)."""

    sequence: int = -1
    batch: int = -1
    watermark: int = BEGINNING  # windows that end at or before it have been emitted
    latest: int = BEGINNING  # the largest event time seen
    plan: str = ""
    buckets: int = 0
    results: tuple[DataFile, ...] = ()
    state: tuple[DataFile, ...] = ()  # of every bucket the base first, then the deltas
    late: tuple[DataFile, ...] = ()
    types: dict[str, str] = field(default_factory=dict)  # of every expression ever folded, so that answers can be read
    counts: dict[str, Any] = field(default_factory=dict)
    standing: str = ""  # the file that says what the retained slices hold, and from when on each query is answered
    marks: tuple[Mark, ...] = ()
    backfill: bool = False  # a past interval, to which nothing is added

    def files(self) -> set[str]:
        """Every data file it names."""
        return {file.name for file in (*self.results, *self.state, *self.late)} | ({self.standing} - {""})


def manifest_name(sequence: int) -> str:
    """The file of a manifest; names sort in the order of their sequence."""
    return f"{FOLDER}/{sequence:012d}.json"


def manifest_names(storage: Storage) -> list[str]:
    """All manifests, the newest last."""
    return sorted(name for name in storage.names(FOLDER) if name.endswith(".json"))


def newest(storage: Storage) -> Manifest:
    """The manifest in force, or the empty one of a new warehouse."""
    names = manifest_names(storage)
    return load(storage, names[-1]) if names else Manifest()


def remembered(storage: Storage, names: Iterable[str]) -> Iterator[Manifest]:
    """Some manifests that are history; a damaged one is forgotten."""
    for name in names:
        with suppress(HeddleError):
            yield load(storage, name)


def load(storage: Storage, name: str) -> Manifest:
    """Read a manifest and check that it is whole."""
    try:
        document = json.loads(storage.read(name))
        digest = document.pop("digest")
        whole = digest == _digest(document)
        files: dict[str, Any] = {part: tuple(DataFile(**file) for file in document.pop(part)) for part in PARTS}
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
    """Make a batch exist, by one atomic step."""
    document = asdict(manifest)
    content = json.dumps({**document, "digest": _digest(document)}, separators=(",", ":")).encode()
    if not storage.create(manifest_name(manifest.sequence), content):
        raise HeddleError(
            f"{storage.path(manifest_name(manifest.sequence))}: another run committed this batch meanwhile; run again"
        )


def _digest(document: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:16]
