"""A storage in memory, every operation of which is a step at which processes change, die or repeat."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from greenlet import getcurrent, greenlet

from jobs.host.storage import Storage


class Killed(BaseException):
    """The end of a process, as by kill -9: nothing of it runs any more."""


@dataclass
class Scheduler:
    """Lets one process go on at a time; which one, and which of them dies, is drawn from a seed."""

    pick: random.Random
    kills: float = 0.01  # of the steps
    repeats: float = 0.005  # of the creations: done, but the answer is lost, so that the client tries again
    steps: int = 0
    processes: dict[Any, str] = field(default_factory=dict)
    is_calm: bool = False  # nobody dies, nothing is repeated
    is_still: bool = False  # nobody else goes on

    def step(self, may_die: bool = True) -> None:
        """Count a step, and let any process go on."""
        if self.is_still:
            return
        self.steps += 1
        current = getcurrent()
        if current.parent is None:
            return
        if may_die and not self.is_calm and self.pick.random() < self.kills:
            raise Killed
        if self.pick.random() < 0.5:
            current.parent.switch()

    @contextmanager
    def stillness(self) -> Iterator[None]:
        """Let nobody else go on for a while, as when somebody looks who takes no time."""
        self.is_still = True
        try:
            yield
        finally:
            self.is_still = False

    def has_lost_answer(self) -> bool:
        """Whether a creation is done, and done again since nobody heard of it."""
        return not self.is_calm and not self.is_still and self.pick.random() < self.repeats

    def start(self, name: str, work: Any) -> None:
        """Begin a process; it runs when its turn comes."""
        process = greenlet(work)
        self.processes[process] = name

    def turn_all(self) -> None:
        """Let as many processes run to their next step as there are, in any order."""
        for _ in range(len(self.processes)):
            if self.processes:
                self.turn()

    def turn(self) -> None:
        """Let one of the processes run to its next step; those that have ended are forgotten."""
        process = self.pick.choice(list(self.processes))
        process.switch()
        if process.dead:
            del self.processes[process]


@dataclass(frozen=True)
class MemoryStorage(Storage):
    """Files by name. A creation is atomic, as a link on a disk and a conditional put on a store are."""

    files: dict[str, bytes] = field(default_factory=dict, compare=False)
    scheduler: Scheduler = field(default_factory=lambda: Scheduler(random.Random(0)), compare=False)
    is_locked: bool = False  # for one run, as a disk is

    @property
    def local(self) -> bool:
        """Whether the folder is as if it were on this machine."""
        return self.is_locked

    def path(self, name: str) -> str:
        """Return the path of a name."""
        return f"{self.root}/{name}"

    def make_folder(self, name: str) -> None:
        """There are no folders."""

    def read(self, name: str) -> bytes:
        """Read a file."""
        self.scheduler.step()
        if name not in self.files:
            raise FileNotFoundError(name)
        return self.files[name]

    def exists(self, name: str) -> bool:
        """Say whether a file of this name is there."""
        self.scheduler.step()
        return name in self.files

    def names(self, folder: str, before: float = math.inf) -> Iterator[str]:
        """List the files below a folder."""
        self.scheduler.step()
        return iter([name for name in self.files if name.startswith(f"{folder}/")])

    def drafts(self, folder: str, before: float = math.inf) -> Iterator[str]:
        """List nothing: a creation is one step."""
        return iter(())

    def delete(self, name: str) -> None:
        """Remove a file, if nobody else has done so."""
        self.scheduler.step()
        self.files.pop(name, None)
        self.scheduler.step()

    def create(self, name: str, content: bytes, durable: bool = True) -> bool:
        """Write a file by one step, unless it is there already."""
        self.scheduler.step()
        if name in self.files:
            return False
        self.files[name] = content
        self.scheduler.step()
        return not self.scheduler.has_lost_answer()
