"""FlatFAT: a complete binary tree over a ring of partials; a partial renews its path, a final joins subtrees."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.operations.dyadic import blocks
from tests.oracle.operations.schedule import Schedule


def operations(schedule: Schedule) -> Iterator[int]:
    """The path to the root, and one combine less than subtrees for every final."""
    levels = (schedule.most_partials - 1).bit_length()
    leaves = 1 << levels
    for number, due in schedule.run():
        yield levels + sum(_subtrees(number % leaves + 1, answer.partials, leaves) - 1 for answer in due)


def _subtrees(end: int, partials: int, leaves: int) -> int:
    """Subtrees that hold the partials before place `end` of the ring."""
    start = end - partials
    if partials == leaves:
        return 1  # the root: the aggregates here are told apart by counts alone, so order does not matter
    if start >= 0:
        return blocks(start, end, leaves)
    return blocks(start + leaves, leaves, leaves) + blocks(0, end, leaves)
