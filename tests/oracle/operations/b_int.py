"""B-Int: intervals of every power of two; a partial completes some of them, a final joins few."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.operations.dyadic import blocks
from tests.oracle.operations.schedule import Schedule


def operations(schedule: Schedule) -> Iterator[int]:
    """One combine per interval that a partial completes, and one less than intervals for every final."""
    levels = (schedule.most_partials - 1).bit_length()
    for number, due in schedule.run():
        end = number + 1
        completed = min(levels, (end & -end).bit_length() - 1)
        yield completed + sum(blocks(end - answer.partials, end, 1 << levels) - 1 for answer in due)
