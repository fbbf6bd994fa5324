"""WeaveShare's greedy as the paper prints it: every pair priced anew in every iteration, nothing remembered.

Edges are marked as the bits of one long integer and counted. Kept as the oracle of the real one, and as the unit of
time of benchmarks/optimizer.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import lcm
from typing import NamedTuple

from optimizer.cost.omega import Load, omega
from optimizer.windows.window import Window


class Tree(NamedTuple):
    """Windows, their edges as bits, and what they cost."""

    windows: frozenset[Window]
    edges: int
    cost: float


class Literal:
    """Prices trees over one composite slide."""

    def __init__(self, windows: Sequence[Window], rate: float, technique: str) -> None:
        self.rate, self.technique = rate, technique
        self.period = lcm(*(window.slide for window in windows))
        self.trees = [self.tree(frozenset({window}), self.marked(window)) for window in sorted(set(windows))]

    def marked(self, window: Window) -> int:
        bits = 0
        for start in {window.offset % window.slide, (window.offset + window.range) % window.slide}:
            ticks = "1".rjust(start + 1, "0") + "1".rjust(window.slide, "0") * (self.period // window.slide - 1)
            bits |= int(ticks[::-1], 2)
        return bits

    def tree(self, windows: frozenset[Window], edges: int) -> Tree:
        edge_rate = edges.bit_count() / self.period
        return Tree(windows, edges, self.rate + edge_rate * omega(self.technique, Load.of(windows), edge_rate))

    def step(self) -> bool:
        """Merge the pair with the largest reduction; false when no pair reduces the cost."""
        max_reduction, best = 0.0, None
        for one, other in combinations(self.trees, 2):
            merged = self.tree(one.windows | other.windows, one.edges | other.edges)
            reduction = one.cost + other.cost - merged.cost
            if reduction > max_reduction * (1 + 1e-12) + 1e-12 * self.rate:
                max_reduction, best = reduction, (one, other, merged)
        if best is None:
            return False
        rest = [tree for tree in self.trees if tree not in best]
        self.trees = sorted([*rest, best[2]], key=lambda tree: min(tree.windows))
        return True


def literal_greedy(windows: Sequence[Window], rate: float, technique: str) -> tuple[float, list[frozenset[Window]]]:
    """The cost and the trees that the literal greedy ends with."""
    search = Literal(windows, rate, technique)
    while search.step():
        pass
    return sum(tree.cost for tree in search.trees), [tree.windows for tree in search.trees]
