"""A sink in memory: it makes the rows of a publication visible and remembers its number by one step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from jobs.engine.warehouse.outbox import Publication
from jobs.sinks.contract import SinkDownError
from tests.simulation.memory_storage import MemoryStorage
from tests.simulation.tasks import Broken, Rows, Tasks

DOWN = 0.3  # of the publications that are tried


@dataclass
class MemorySink:
    """What a sink has got, publication by publication."""

    name: str
    storage: MemoryStorage
    tasks: Tasks
    public_rows: Callable[[], Rows]  # what readers see at this moment
    format: str = "memory"
    rows: Rows = field(default_factory=dict)
    last: int = -1

    def write(self, publication: Publication) -> None:
        """Write a publication, unless it is there."""
        scheduler = self.storage.scheduler
        scheduler.step()
        if publication.number <= self.last:
            return
        if not scheduler.is_calm and scheduler.pick.random() < DOWN:
            raise SinkDownError("nobody answers")
        try:
            rows = self.tasks.rows_of(publication.files)
        except FileNotFoundError as missing:
            if publication.number <= self.last:  # by another delivery, so that the file may go
                raise SinkDownError("another delivery was quicker") from None
            raise Broken(f"{missing} waits for sink {self.name} and is not there") from None
        if publication.number <= self.last:
            raise SinkDownError("another delivery was quicker")
        if twice := self.rows.keys() & rows.keys():
            raise Broken(f"sink {self.name} gets {sorted(twice)} twice")
        public = self.public_rows()
        if early := [place for place, numbers in rows.items() if public.get(place) != numbers]:
            raise Broken(f"sink {self.name} gets {early}, which nobody has published so")
        self.rows |= rows
        self.last = publication.number
        scheduler.step()
