"""A store that is no disk of this machine, and a stream of readings on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq

from jobs.host.storage import Storage
from tests.worlds.readings import Readings, events, make_world, open_world


@dataclass(frozen=True)
class Store:
    """Where everything on the store is, and what the environment of a process says of how to reach it."""

    root: str
    environment: dict[str, str] = field(default_factory=dict)

    def place(self, *names: str) -> str:
        """The address of a folder."""
        return "/".join((self.root, *names))

    def make_world(self, folder: Path, name: str) -> Readings:
        """A stream of readings whose events are on the store, below a name."""
        world = make_world(folder)
        catalog = folder / "catalog" / "catalog.yaml"
        catalog.write_text(catalog.read_text().replace(str(folder / "data"), self.place(name, "data")))
        return open_world(world.folder)

    def arrive(self, name: str, *numbers: int) -> None:
        """Some more files of events."""
        for number in numbers:
            place = Storage(self.place(name, "data"))
            pq.write_table(events(number), place.path(f"part-{number:05d}.parquet"), filesystem=place.filesystem)
