"""SlickDeque for invertible aggregates: a running total per distinct range."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.operations.schedule import Schedule


def operations(schedule: Schedule) -> Iterator[int]:
    """Every total takes every partial in, and takes off what has left its window when that ends."""
    held = {window.range: 0 for window in schedule.windows}
    for _, due in schedule.run():
        taken = len(held)
        for total in held:
            held[total] += 1
        for answer in due:
            total = schedule.windows[answer.query].range
            taken += held[total] - answer.partials
            held[total] = answer.partials
        yield taken
