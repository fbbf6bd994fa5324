"""Between batches: what the retained slices of a warehouse hold, and from when on each query is answered."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from jobs.engine.program.clock import BEGINNING
from jobs.host.storage import Storage
from optimizer.errors import HeddleError

if TYPE_CHECKING:
    from jobs.kernels.slices.edges import Edges

FOLDER = "standing"


@dataclass(frozen=True)
class Held:
    """The retained slices of one tree: all events since a time are in them, but slices beyond the reach are dropped."""

    grouping: str
    cut: str  # how events are told apart beside their keys and slices: by the predicates they pass, or row by row
    edges: Edges
    measures: tuple[str, ...]
    reach: int
    since: int = BEGINNING

    def complete_from(self, watermark: int) -> int:
        """Windows that start here or later can be answered."""
        return max(self.since, watermark - self.reach + 1)


@dataclass(frozen=True)
class Standing:
    """Trees by the label of their slices; queries by their label, answered in the windows that end after a time."""

    trees: dict[str, Held] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)

    def joined(self) -> dict[str, int]:
        """The queries that were not there from the beginning."""
        return {name: after for name, after in self.asked.items() if after > BEGINNING}


def save_standing(storage: Storage, standing: Standing) -> str:
    """Write it under the name of its content; the manifest that names it makes it count."""
    content = json.dumps(asdict(standing), separators=(",", ":"), sort_keys=True).encode()
    name = f"{FOLDER}/{hashlib.sha256(content).hexdigest()[:24]}.json"
    storage.create(name, content)
    return name


@lru_cache(maxsize=16)  # the files never change
def load_standing(storage: Storage, name: str) -> Standing:
    """Read it, or the empty one of a new warehouse."""
    if not name:
        return Standing()
    try:
        document = json.loads(storage.read(name))
        return Standing({tree: _held(**entry) for tree, entry in document["trees"].items()}, document["asked"])
    except (OSError, ValueError, KeyError, TypeError):
        raise HeddleError(
            f"{storage.path(name)}: is damaged or missing; restore this file from a backup, then run again"
        ) from None


def _held(edges: list[list[int]], measures: list[str], **rest: Any) -> Held:
    return Held(edges=tuple((period, residue) for period, residue in edges), measures=tuple(measures), **rest)
