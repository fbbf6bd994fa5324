"""WeaveShare's greedy as the paper prints it: every pair priced anew in every iteration, nothing remembered.

Edges are marked as the bits of one long integer and counted. Kept as the oracle of the real one, and as the unit of
time of benchmarks/optimizer.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import lcm

from optimizer.cost.load import Load
from optimizer.cost.omega import OMEGA
from optimizer.windows.window import Window

Tree = tuple[frozenset[Window], int]  # the windows, and their edges as bits


class Literal:
    """Prices trees over one composite slide."""

    def __init__(self, windows: Sequence[Window], rate: float, technique: str) -> None:
        self.rate, self.omega = rate, OMEGA[technique]
        self.period = lcm(*(window.slide for window in windows))
        self.trees: list[Tree] = [(frozenset({window}), self.marked(window)) for window in sorted(set(windows))]

    def marked(self, window: Window) -> int:
        bits = 0
        for start in {window.offset % window.slide, (window.offset + window.range) % window.slide}:
            bits |= sum(1 << edge for edge in range(start, self.period, window.slide))
        return bits

    def cost(self, tree: Tree) -> float:
        edge_rate = tree[1].bit_count() / self.period
        return self.rate + edge_rate * self.omega(Load.of(tree[0]), edge_rate)

    def step(self) -> bool:
        """Merge the pair with the largest reduction; false when no pair reduces the cost."""
        max_reduction, best = 0.0, None
        for one, other in combinations(self.trees, 2):
            merged = (one[0] | other[0], one[1] | other[1])
            reduction = self.cost(one) + self.cost(other) - self.cost(merged)
            if reduction > max_reduction * (1 + 1e-12) + 1e-12 * self.rate:
                max_reduction, best = reduction, (one, other, merged)
        if best is None:
            return False
        one, other, merged = best
        self.trees = sorted([*(t for t in self.trees if t not in (one, other)), merged], key=lambda t: min(t[0]))
        return True


def literal_greedy(windows: Sequence[Window], rate: float, technique: str) -> tuple[float, list[frozenset[Window]]]:
    """The cost and the trees that the literal greedy ends with."""
    search = Literal(windows, rate, technique)
    while search.step():
        pass
    return sum(map(search.cost, search.trees)), [tree[0] for tree in search.trees]
