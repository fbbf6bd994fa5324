"""What a strategy hands back: which tree answers each window, and what feeds each tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.cost.tree_cost import RAW
from optimizer.strategies.contract.units import Units
from optimizer.windows.edges import Edges
from optimizer.windows.window import IntArray


@dataclass(frozen=True, eq=False)
class Draft:
    """Trees by number. Those that answer no query are numbered last, and given by their edges."""

    labels: IntArray  # the tree of every distinct window
    feeds: tuple[int, ...]  # per tree, the tree whose partials it folds, or RAW
    free: tuple[Edges, ...] = ()
    by_class: bool = False  # windows of a class are all in one tree
    free_masks: tuple[int, ...] = ()  # the classes whose edges the free trees have; () where they have others

    @classmethod
    def of_forest(
        cls,
        units: Units,
        forest: Sequence[int],
        feeds: Sequence[int] = (),
        free: Sequence[Edges] = (),
        free_masks: Sequence[int] = (),
    ) -> Draft:
        """Return the trees of a forest of unit masks; fed by the raw events unless said otherwise."""
        labels = units.labels(list(forest))
        by_class = units.unit_of is units.problem.class_of
        return cls(labels, tuple(feeds) or (RAW,) * len(forest), tuple(free), by_class, tuple(free_masks))

    @property
    def answering(self) -> int:
        """How many trees answer queries."""
        return len(self.feeds) - len(self.free)

    def members(self) -> list[IntArray]:
        """Return the windows of every tree that answers queries."""
        order = np.argsort(self.labels, kind="stable")
        return np.split(order, np.searchsorted(self.labels[order], np.arange(1, self.answering)))
