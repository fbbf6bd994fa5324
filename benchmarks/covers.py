"""Would it pay in the engine to read the windows of another query instead of slices? Maxima, by window.

    python -m benchmarks.covers [--slices 1000000]

The engine folds a query's windows on the grid of the tree's slices. The other side is the least that reading another
query's answers could take: the maximum of as few of its windows as cover one, whole columns at a time, both at hand
already. Beside it: how much of what an answer costs, from the slices to the file, that saves.
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.cliffs import least
from benchmarks.engine_world import show, world
from jobs.kernels.algebra.operators import MAX
from jobs.kernels.columns.grid import lay_out_grid
from optimizer.rewrite.covers import fold_windows
from optimizer.windows.window import Window

BY = Window(60, 1)
KEYS = 10


def fold_and_read(slices: int, window: Window) -> tuple[float, float]:
    """Return CPU nanoseconds a window: folded from slices, and read from the windows that cover it."""
    starts, values = np.arange(slices), np.random.default_rng(1).normal(size=slices)
    grid = lay_out_grid(np.array([0, slices]), starts, [BY, window], after=0, until=slices)
    assert grid is not None
    levels = grid.levels(MAX, values)
    by, own = levels.fold(grid.run(BY))[0], levels.fold(grid.run(window))[0]
    shift = grid.run(window).start - grid.run(BY).start
    distances = [shift + distance for distance in fold_windows("", window, BY).distances]
    first, count = -min(0, shift), len(by) - max(distances)

    def read() -> np.ndarray:
        out = by[distances[0] + first : distances[0] + count].copy()
        for distance in distances[1:]:
            np.maximum(out, by[distance + first : distance + count], out=out)
        return out

    assert np.array_equal(read(), own[first:count])
    return least(lambda: levels.fold(grid.run(window))) / len(own) * 1e9, least(read) / (count - first) * 1e9


def answer_cost(answers: int) -> float:
    """Return the CPU nanoseconds of an answer, from the slices to the file: what a run costs more by one query."""
    spent = []
    for windows in ([BY], [BY, Window(120, 1)]):
        with world(answers, KEYS, windows, rate=KEYS) as here:  # an event a second and key: as many windows end
            spent.append(least(here.local))
    return (spent[1] - spent[0]) / answers * 1e9


def main() -> None:
    """Print what a window costs by both ways, and how much of a run that is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slices", type=int, default=1_000_000)
    slices = parser.parse_args().slices
    answer = answer_cost(slices)
    for window in (Window(61, 1), Window(120, 1), Window(300, 1), Window(3600, 1)):
        folded, read = fold_and_read(slices, window)
        name = f"max over {window.range} s of windows of {BY.range} s against slices"
        saved = f"{read:.1f} / {folded:.1f} ns a window; saves {(folded - read) / answer:.1%} of what its answer costs"
        show(name, read / folded, "less than 1 saves", saved)


if __name__ == "__main__":
    main()
