"""Marks: how far event time and the watermark had come after each batch, so that old files need not be opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

MOST = 256  # beyond it, every second one of the older half is forgotten


class Mark(NamedTuple):
    """After a batch: the largest event time seen, and the watermark. No file of the batch holds a later event."""

    batch: int
    latest: int
    watermark: int


def marked(marks: Sequence[Mark], mark: Mark) -> tuple[Mark, ...]:
    """The marks with one more; the closing after a batch takes the place of the batch."""
    kept = [held for held in marks if held.batch < mark.batch]
    if len(kept) >= MOST:
        half = len(kept) // 2
        kept = kept[1:half:2] + kept[half:]
    return (*kept, mark)


def all_marked(marks: Sequence[Mark], batch: int) -> bool:
    """Whether none up to a batch has been forgotten."""
    return len(marks) > batch


def latest_of(marks: Sequence[Mark], batch: int) -> int | None:
    """No event of a batch is later than this; None when nothing is known."""
    return next((mark.latest for mark in marks if mark.batch >= batch), None)


def emitted_by(marks: Sequence[Mark], batch: int) -> tuple[int, int] | None:
    """The windows that a batch and its closing emitted, by their ends: after the first time, up to the second."""
    for before, mark in zip((None, *marks), marks, strict=False):
        if mark.batch == batch and (batch == 0 or (before and before.batch == batch - 1)):
            return (before.watermark if before else -(1 << 62)), mark.watermark
    return None
