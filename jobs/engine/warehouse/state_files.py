"""State files: the retained slices and chunks of a bucket, each file of some time.

Every batch adds one small file with its slices and newly closed chunks. When there are some, they are sorted onto
shelves: the slices or chunks of one level that are kept for about as long. What is large, a batch puts there itself.
The files of a shelf are merged when some are about equally large, but stay a part of the shelf, so that a file whose
time is over is dropped by its name, and a batch opens only those of the times it needs. Windows in rows have a shelf
of their own, with a base and deltas.

A file holds several Arrow tables: one stream after another, each with its label. What each tree retains between
batches, and from when on each query is answered, is a file of its own.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.events.arrow import COMPRESSED, PLAIN, read_tables, write_tables
from jobs.engine.warehouse.manifest import ENDLESS, DataFile
from jobs.engine.warehouse.result_files import fresh_name
from jobs.host.storage import Storage
from optimizer.errors import HeddleError
from optimizer.plan.levels import Level
from optimizer.windows.edges import Edges
from optimizer.windows.window import BEGINNING

FOLDER = "state"
ADDED = ""  # the shelf of what batches add
ROWS = "rows"  # the shelf of windows in rows
MOST_DELTAS = 8  # of windows in rows
MERGE_AT = 4  # files that batches have added, or files of a shelf that are about equally large
SMALL = 1 << 13  # rows of files that are merged in any case
FILE_OF_ITS_OWN = 1 << 11  # rows of a table that a batch adds, from which on a file costs less than to copy them later
READ_WHOLE = 1 << 20  # bytes of a local file
MOST_OF_SHELF = 4  # a file has at most this part of the rows of its shelf
RETAINED_FOLDER = "standing"


class KeptTable(NamedTuple):
    """A table of slices or chunks: how long they are kept behind the watermark, and on which shelf."""

    table: pa.Table
    reach: int
    shelf: str


def shelf_name(level: int, reach: int) -> str:
    """Name the shelf of a level that is kept for a time: others on it are kept at most twice as long.

    >>> shelf_name(1, 1000), shelf_name(1, 1020)
    ('1.10', '1.10')
    """
    return f"{level}.{reach.bit_length()}"


class StateFiles:
    """The files of a bucket; each is opened once, when something of its time is asked for."""

    def __init__(self, storage: Storage, files: Sequence[DataFile]) -> None:
        self.storage, self.files = storage, files
        self._tables: dict[str, dict[str, pa.Table]] = {}

    def read(
        self, label: str, shelf: str, spans: Sequence[tuple[int, int]] = ((BEGINNING, ENDLESS),)
    ) -> list[pa.Table]:
        """Return the rows of a label that start within some ascending spans, each from a time on and before another."""
        files = [
            file
            for file in self.files
            if file.shelf in (ADDED, shelf) and any(file.first < end and file.last >= first for first, end in spans)
        ]
        tables = [table for file in files if (table := self.tables(file).get(label)) is not None]
        return [part for table in tables for part in _slice(table, spans)] if shelf != ROWS else tables

    def tables(self, file: DataFile) -> dict[str, pa.Table]:
        """Return all tables of a file, by label."""
        if file.name not in self._tables:
            self._tables[file.name] = _load(self.storage, file.name)
        return self._tables[file.name]

    def all_tables(self) -> dict[str, list[pa.Table]]:
        """Return all tables of all files by label, in the order they were written."""
        tables: dict[str, list[pa.Table]] = {}
        for file in self.files:
            for label, table in self.tables(file).items():
                tables.setdefault(label, []).append(table)
        return tables


def _slice(table: pa.Table, spans: Sequence[tuple[int, int]]) -> list[pa.Table]:
    """Return the rows of a table, which is in the order of time, that start within each of some spans."""
    places = np.searchsorted(np.asarray(table["start"]), np.array(spans, np.int64)).tolist()
    return [table.slice(low, high - low) for low, high in places if low < high]


def rows_since(table: pa.Table, time: int) -> pa.Table:
    """Return the rows of a table, which is in the order of time, that start at a time or later.

    >>> rows_since(pa.table({"start": [0, 10, 10]}), 5).num_rows
    2
    """
    return table.slice(int(np.searchsorted(np.asarray(table["start"]), time)))


def in_order_of_time(table: pa.Table) -> pa.Table:
    """Return the rows of a table by their start, as state files have them.

    >>> in_order_of_time(pa.table({"start": [10, 0, 10], "n": [1, 2, 3]}))["n"].to_pylist()
    [2, 1, 3]
    """
    start = np.asarray(table["start"])
    return table if np.all(start[1:] >= start[:-1]) else table.take(pa.array(np.argsort(start, kind="stable")))


def save_state(
    storage: Storage, batch: int, bucket: int, slices: Mapping[str, KeptTable], shelf: str = ADDED
) -> list[DataFile]:
    """Write one file of slices and chunks, unless there are none."""
    filled = {label: part for label, part in slices.items() if part.table.num_rows}
    if not filled:
        return []
    name = fresh_name(FOLDER, batch, bucket, "arrow")
    # nobody else writes this name, and what a failed task leaves behind is swept later: no draft is needed
    with storage.filesystem.open_output_stream(storage.path(name)) as sink:
        tables = {name: part.table if shelf == ROWS else in_order_of_time(part.table) for name, part in filled.items()}
        write_tables(sink, tables, PLAIN if storage.local else COMPRESSED)  # a disk is faster than a compressor
    rows = sum(part.table.num_rows for part in filled.values())
    if shelf == ROWS:
        return [DataFile(name, bucket, rows, batch, shelf=shelf)]
    ends = [(pc.min_max(part.table["start"]).as_py(), part.reach) for part in filled.values()]
    first, last = min(end["min"] for end, _ in ends), max(end["max"] for end, _ in ends)
    expires = max(end["max"] + reach for end, reach in ends)
    return [DataFile(name, bucket, rows, batch, shelf=shelf, first=first, last=last, expires=expires)]


def save_added(storage: Storage, batch: int, bucket: int, slices: Mapping[str, KeptTable]) -> list[DataFile]:
    """Write what a batch adds as one file; large tables go to their shelves at once, and are not copied there later:
    slices that are soon over are dropped with their files, while chunks beside them stay."""
    large = {label: part for label, part in slices.items() if part.table.num_rows > FILE_OF_ITS_OWN}
    small = {label: part for label, part in slices.items() if label not in large}
    return save_state(storage, batch, bucket, small) + save_by_shelf(storage, batch, bucket, large)


def save_by_shelf(storage: Storage, batch: int, bucket: int, slices: Mapping[str, KeptTable]) -> list[DataFile]:
    """Write slices and chunks, a file per shelf."""
    shelves: dict[str, dict[str, KeptTable]] = {}
    for label, part in slices.items():
        shelves.setdefault(part.shelf, {})[label] = part
    return [file for name, shelf in shelves.items() for file in save_state(storage, batch, bucket, shelf, name)]


Merge = Callable[[str, list[pa.Table]], KeptTable]  # by label: what is still needed of some tables, as one


def tidy_files(state: StateFiles, batch: int, bucket: int, watermark: int, merge: Merge) -> list[DataFile]:
    """Drop the files whose time is over, and merge where there are too many; the shelf ROWS is left alone."""
    files = [file for file in state.files if file.expires > watermark]
    for group in mergeable(files):
        tables: dict[str, list[pa.Table]] = {}
        for file in group:
            for label, table in state.tables(file).items():
                tables.setdefault(label, []).append(table)
        merged = {label: merge(label, parts) for label, parts in tables.items()}
        names = {file.name for file in group}
        files = [f for f in files if f.name not in names] + save_by_shelf(state.storage, batch, bucket, merged)
    return files


def mergeable(files: Sequence[DataFile]) -> list[list[DataFile]]:
    """Return the groups of files that are to be merged: what batches have added, and equally large ones of a shelf.

    >>> files = [DataFile(f"{n}", 0, rows, n, shelf="0.9") for n, rows in enumerate([90_000, 9, 8, 7, 50])]
    >>> [[file.name for file in group] for group in mergeable(files)]
    [['1', '2', '3', '4']]
    """
    added = [file for file in files if file.shelf == ADDED]
    if len(added) >= MERGE_AT:
        return [added]  # the next batch sees to the shelves
    shelves: dict[str, dict[int, list[DataFile]]] = {}
    for file in files:
        if file.shelf not in (ADDED, ROWS):
            shelves.setdefault(file.shelf, {}).setdefault(_size_class(file.rows), []).append(file)
    groups = []
    for by_size in shelves.values():
        total = sum(file.rows for group in by_size.values() for file in group)
        oldest = [group[:MERGE_AT] for group in by_size.values() if len(group) >= MERGE_AT]
        most = max(SMALL, total // MOST_OF_SHELF)
        groups += [group for group in oldest if sum(file.rows for file in group) <= most]
    return groups


def _size_class(rows: int) -> int:
    """Number sizes such that those of a class differ by less than a factor of four; all small ones are in the first."""
    return max(0, (4 * rows // SMALL).bit_length() + 1) // 2


def pays_to_rewrite(files: Sequence[DataFile], added: int, retained: int) -> bool:
    """Whether a new base of windows in rows pays: the deltas outweigh the old one, or are many, or most of what is
    there has expired."""
    if not files:
        return True
    deltas = sum(file.rows for file in files[1:]) + added
    return deltas > files[0].rows or len(files) > MOST_DELTAS or 2 * retained < files[0].rows + deltas


def _load(storage: Storage, name: str) -> dict[str, pa.Table]:
    """Read the tables of a file, all or none; of a local one, columns are read when they are looked at."""
    try:
        with _open(storage, name) as source:
            return read_tables(source)
    except (OSError, pa.ArrowException, KeyError, TypeError, UnicodeDecodeError):
        raise HeddleError(
            f"{storage.path(name)}: is damaged or missing; restore this file from a backup, then run again"
        ) from None


def _open(storage: Storage, name: str) -> Any:
    if storage.local:
        with open(storage.path(name), "rb") as file:
            if os.fstat(file.fileno()).st_size <= READ_WHOLE:  # sooner than to map it
                return pa.BufferReader(file.read())
        return pa.memory_map(storage.path(name))
    with storage.filesystem.open_input_file(storage.path(name)) as source:
        return pa.BufferReader(source.read())


@dataclass(frozen=True)
class RetainedTree:
    """The retained slices of one tree: all events since a time are in them, but slices beyond the reach are dropped.

    Level 0 of its levels are the slices, the others are chunks, each with a reach of its own; a warehouse from before
    there were chunks has no levels, and slices as far as the longest window reaches."""

    grouping: str
    cut: str  # how events are told apart beside their keys and slices: by the predicates they pass, or row by row
    edges: Edges
    measures: tuple[str, ...]
    reach: int
    since: int = BEGINNING
    levels: tuple[Level, ...] = ()

    @property
    def all_levels(self) -> tuple[Level, ...]:
        """The levels; where no chunks are kept, the slices alone."""
        return self.levels or (Level(self.edges, self.reach),)


@dataclass(frozen=True)
class RetainedSlices:
    """Trees by the label of their slices; by the label of a query, the time after which its windows are answered."""

    trees: dict[str, RetainedTree] = field(default_factory=dict)
    answered_after: dict[str, int] = field(default_factory=dict)
    frame: tuple[str, ...] = ()  # labels of the frame lane's queries, whose trees are apart; () where no tree is split

    @property
    def joined(self) -> dict[str, int]:
        """The queries that were not there from the beginning, with the time after which they are answered."""
        return {label: after for label, after in self.answered_after.items() if after > BEGINNING}


def save_retained(storage: Storage, retained: RetainedSlices) -> str:
    """Write a file under a name that no other attempt has; the manifest that names it makes it count."""
    trees = {label: asdict(tree) for label, tree in retained.trees.items()}
    document = {"trees": trees, "asked": retained.answered_after, "frame": retained.frame}
    content = json.dumps(document, separators=(",", ":"), sort_keys=True).encode()
    name = f"{RETAINED_FOLDER}/{uuid.uuid4().hex[:24]}.json"
    storage.create(name, content)
    return name


@lru_cache(maxsize=16)  # the files never change
def load_retained(storage: Storage, name: str) -> RetainedSlices:
    """Read what a manifest names, or the empty one of a new warehouse."""
    if not name:
        return RetainedSlices()
    try:
        document = json.loads(storage.read(name))
        trees = {label: _tree(**entry) for label, entry in document["trees"].items()}
        return RetainedSlices(trees, document["asked"], tuple(document.get("frame", ())))
    except (OSError, ValueError, KeyError, TypeError):
        raise HeddleError(
            f"{storage.path(name)}: is damaged or missing; restore this file from a backup, then run again"
        ) from None


def _tree(
    edges: list[list[int]], measures: list[str], levels: Sequence[dict[str, Any]] = (), **rest: Any
) -> RetainedTree:
    parsed_levels = tuple(Level(_edges(level["edges"]), level["reach"]) for level in levels)
    return RetainedTree(edges=_edges(edges), measures=tuple(measures), levels=parsed_levels, **rest)


def _edges(pairs: list[list[int]]) -> Edges:
    return tuple((period, residue) for period, residue in pairs)
