"""Panes with an inverse: a total per distinct range, mended partial by partial as slices come and go."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.operations import slick_deque_inv
from tests.oracle.operations.schedule import Schedule


def operations(schedule: Schedule) -> Iterator[int]:
    """The same additions and subtractions as SlickDeque's, which only keeps them in one place."""
    return slick_deque_inv.operations(schedule)
