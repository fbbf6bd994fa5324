"""Simulated annealing over forests: a fixed number of seeded steps, so that the result is always the same."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from optimizer.strategies.contract.units import bits
from optimizer.strategies.contract.watch import Watch
from optimizer.strategies.search.forest_moves import ForestPrice, fewer

STEPS = 300
WARM, COLD = 2e-2, 1e-5  # temperatures, relative to the cost
SEED = 2026


def anneal(forest: Sequence[int], price: ForestPrice, watch: Watch, steps: int = STEPS) -> list[int]:
    """The cheapest forest met."""
    rng = np.random.default_rng(SEED)
    steps = fewer(steps, forest)
    units = list(bits(sum(forest)))
    now, cost = list(forest), price(forest)
    best, least = now, cost
    for step in range(steps):
        if watch.stopped or len(units) < 2:
            break
        neighbour = _neighbour(now, units, rng)
        change = price(neighbour) / cost - 1
        temperature = WARM * (COLD / WARM) ** (step / steps)
        if change <= 0 or rng.random() < math.exp(-change / temperature):
            now, cost = neighbour, price(neighbour)
            if cost < least:
                best, least = now, cost
        watch.report(step / steps)
    return best


def _neighbour(trees: list[int], units: list[int], rng: np.random.Generator) -> list[int]:
    """A random unit in a random other tree or in one of its own; now and then two trees merged."""
    if len(trees) > 1 and rng.random() < 0.1:
        first, second = rng.choice(len(trees), 2, replace=False).tolist()
        rest = [tree for place, tree in enumerate(trees) if place not in (first, second)]
        return [*rest, trees[first] | trees[second]]
    unit = 1 << units[int(rng.integers(len(units)))]
    bare = [tree & ~unit for tree in trees]
    target = int(rng.integers(len(trees) + 1))
    moved = [tree | unit if place == target else tree for place, tree in enumerate([*bare, 0])]
    return [tree for tree in moved if tree]
