"""FlatFIT: every place of a ring skips to where its aggregate ends; a final follows the skips and shortens them."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.operations.schedule import Schedule


def operations(schedule: Schedule) -> Iterator[int]:
    """One combine less than places visited, for every final."""
    places = schedule.most_partials
    skips = list(range(1, places + 1))  # the number of the partial after the place's aggregate
    for number, due in schedule.run():
        skips[number % places] = number + 1
        yield sum(_follow(skips, number, answer.partials) for answer in due)


def _follow(skips: list[int], number: int, partials: int) -> int:
    """Skip from the first partial of a window to its last, and let every place visited reach as far."""
    place, visited = number - partials + 1, 0
    while place <= number:
        skips[place % len(skips)], place = number + 1, skips[place % len(skips)]
        visited += 1
    return visited - 1
