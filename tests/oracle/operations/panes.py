"""Panes: a final combines all partials of its window, one after another."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.operations.schedule import Schedule


def operations(schedule: Schedule) -> Iterator[int]:
    """Combines at every partial."""
    for _, due in schedule.run():
        yield sum(answer.partials - 1 for answer in due)
