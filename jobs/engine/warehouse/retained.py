"""The retained slices of a warehouse between batches: what each tree keeps, and from when on each query is answered."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from jobs.host.storage import Storage
from optimizer.errors import HeddleError
from optimizer.plan.levels import Level
from optimizer.windows.edges import Edges
from optimizer.windows.window import BEGINNING

FOLDER = "standing"


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
    """Write a file under the name of its content; the manifest that names it makes it count."""
    trees = {label: asdict(tree) for label, tree in retained.trees.items()}
    document = {"trees": trees, "asked": retained.answered_after, "frame": retained.frame}
    content = json.dumps(document, separators=(",", ":"), sort_keys=True).encode()
    name = f"{FOLDER}/{hashlib.sha256(content).hexdigest()[:24]}.json"
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
