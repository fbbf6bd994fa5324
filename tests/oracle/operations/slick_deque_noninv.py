"""SlickDeque for selective aggregates: one deque of falling maxima for all queries, over random values."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from random import Random

from tests.oracle.operations.schedule import Schedule


def operations(schedule: Schedule) -> Iterator[int]:
    """A comparison per node that a partial meets at the back, one look-up per final, and the nodes it passes."""
    random, nodes = Random(1), deque[tuple[int, float]]()
    longest = schedule.most_partials
    for number, due in schedule.run():
        value, met = random.random(), 0
        while nodes:
            met += 1
            if nodes[-1][1] > value:
                break
            nodes.pop()
        nodes.append((number, value))
        while nodes[0][0] <= number - longest:
            nodes.popleft()
        yield met + len(due) + _passed([held for held, _ in nodes], [number - answer.partials for answer in due])


def _passed(nodes: list[int], before: list[int]) -> int:
    """Nodes that one walk from the oldest passes to answer all windows, the longest first."""
    last = max(before, default=-1)
    return sum(held <= last for held in nodes)
