"""DABA, one for every query: the flip of Two-Stacks, spread over the inserts and evictions that follow it."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.operations.schedule import Schedule


class Bankers:
    """The queue [first, end) in five parts, cut at left <= right <= accumulated <= back (DEBS 2017).

    Suffixes are known up to the back in [first, left) and [accumulated, back), up to `right` in [left, right);
    prefixes in [right, accumulated) and [back, end).
    """

    def __init__(self) -> None:
        self.first = self.left = self.right = self.accumulated = self.back = self.end = 0

    def insert(self) -> int:
        """One combine with the back's aggregate, unless the back is empty, and a step."""
        combines = int(self.end > self.back)
        self.end += 1
        return combines + self.step()

    def answer(self, partials: int) -> int:
        """Evict down to the window, a step each, then combine front and back."""
        combines = 0
        while self.end - self.first > partials:
            self.first += 1
            combines += self.step()
        return combines + int(self.first < self.back < self.end)

    def step(self) -> int:
        """The paper's fix-up: singleton, flip, then shift or shrink; only a shrink combines."""
        if self.first == self.back:
            self.left = self.right = self.accumulated = self.back = self.end
            return 0
        if self.left == self.back:
            self.left = self.first
            self.accumulated = self.back = self.end
        if self.left == self.right:
            self.left += 1
            self.right += 1
            self.accumulated += 1
            return 0
        parts = 1 + int(self.right < self.accumulated) + int(self.accumulated < self.back)
        combines = parts - 1 + int(self.accumulated < self.back)
        self.left += 1
        self.accumulated -= 1
        return combines


def operations(schedule: Schedule) -> Iterator[int]:
    """Combines of every query's queue."""
    queues = [Bankers() for _ in schedule.windows]
    for _, due in schedule.run():
        inserted = sum(queue.insert() for queue in queues)
        yield inserted + sum(queues[answer.query].answer(answer.partials) for answer in due)
