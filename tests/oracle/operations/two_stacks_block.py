"""Two-Stacks that flips a block at once: suffixes of the block before a cut, prefixes of what comes after it."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.operations.schedule import Schedule


class Blocks:
    """Where the cut is, counted in partials since; a window that begins after it moves the cut to its own end."""

    def __init__(self) -> None:
        self.since = 0

    def insert(self) -> int:
        """One combine with the prefix, unless it begins."""
        self.since += 1
        return int(self.since > 1)

    def answer(self, partials: int) -> int:
        """A suffix and a prefix; or, when the window does not reach back to the cut, suffixes of all it holds."""
        if partials < self.since:
            self.since = 0
            return partials - 1
        return int(partials > self.since > 0)


def operations(schedule: Schedule) -> Iterator[int]:
    """Combines of every query's blocks."""
    blocks = [Blocks() for _ in schedule.windows]
    for _, due in schedule.run():
        inserted = sum(block.insert() for block in blocks)
        yield inserted + sum(blocks[answer.query].answer(answer.partials) for answer in due)
