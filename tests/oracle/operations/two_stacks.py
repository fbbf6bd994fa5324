"""Two-Stacks, one pair for every query: insert on the back, evict from the front, flip when the front is empty."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.operations.schedule import Answer, Schedule


class Stacks:
    """The sizes of both stacks; values do not matter for the count."""

    def __init__(self) -> None:
        self.front = self.back = 0

    def insert(self) -> int:
        """One combine with the back's aggregate, unless the back is empty."""
        self.back += 1
        return int(self.back > 1)

    def answer(self, partials: int) -> int:
        """Evict down to the window, then combine both tops."""
        combines = 0
        while self.front + self.back > partials:
            if not self.front:
                combines += self.back - 1
                self.front, self.back = self.back, 0
            self.front -= 1
        return combines + int(self.front > 0 and self.back > 0)


def operations(schedule: Schedule) -> Iterator[int]:
    """Combines of all pairs of stacks."""
    stacks = [Stacks() for _ in schedule.windows]
    for _, due in schedule.run():
        yield sum(pair.insert() for pair in stacks) + sum(_answer(stacks, answer) for answer in due)


def _answer(stacks: list[Stacks], answer: Answer) -> int:
    return stacks[answer.query].answer(answer.partials)
