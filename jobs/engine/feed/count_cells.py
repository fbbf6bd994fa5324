"""What it takes to give events their cells in a tree, and to fold them: counted as the plan's model counts it."""

from __future__ import annotations

import numpy as np

from jobs.engine.events.columns import Events
from jobs.engine.slices.cells import Cells
from jobs.engine.slices.roll_up import Feed
from optimizer.plan.counters import CELL, CHAINED, GUESSED, MASKED, PARTIAL, SIGNED, SORTED

SAMPLE = 4096  # events whose cells are compared with those before them


def count_cells(events: Events, feed: Feed, cells: Cells) -> dict[str, int]:
    """Return how many events were given their cells, by which way, and folded; and about how many of them into the cell
    of the event before."""
    some = cells.cell[:SAMPLE]
    alike = np.count_nonzero(some[1:] == some[:-1]) / max(1, len(some) - 1)
    total, folds = len(events.times), _count_folds(events, feed)
    placed = {SORTED if cells.are_sorted else CELL: total, SIGNED: total * bool(feed.tree.bits)}
    return {**placed, **folds, CHAINED: round(folds[PARTIAL] * alike)}


def _count_folds(events: Events, feed: Feed) -> dict[str, int]:
    """Return how many events are folded, each once per measure that takes it; how many are looked at for a measure
    with a predicate, and of these the fewer: those that pass, or those that do not."""
    measures, total = feed.folded_measures, len(events.times)
    masks = [] if feed.tree.bits else [measure.where for measure in measures if measure.where]
    passing = {name: int(np.count_nonzero(events.predicates[name])) for name in set(masks)}
    return {
        PARTIAL: total * (len(measures) - len(masks)) + sum(passing[name] for name in masks),
        MASKED: total * len(masks),
        GUESSED: sum(min(passing[name], total - passing[name]) for name in masks),
    }
