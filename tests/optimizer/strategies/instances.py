"""Random windows to plan: a few of every kind the papers draw, and of those they leave out."""

from __future__ import annotations

import random

from optimizer.windows.window import Window

FACTORS = (1, 2, 4, 5, 8, 10, 20, 25, 40, 50, 100, 125, 200, 250, 500, 1000)
TECHNIQUES = ("panes", "flat_fat", "flat_fit", "daba", "slick_deque_inv", "slick_deque_noninv")


def instance(seed: int, queries: int) -> tuple[list[Window], float]:
    """Windows with factors of 1000, with residues, or with offsets; some twice; and a rate."""
    rng = random.Random(seed)
    kind = seed % 3
    windows = []
    for _ in range(queries):
        slide = rng.choice(FACTORS) if kind == 0 else rng.choice((2, 3, 4, 5, 6, 8, 10, 12, 15))
        residue = rng.randrange(slide) if kind else 0
        offset = rng.randrange(slide) if kind == 2 else 0
        windows.append(Window(slide * rng.randint(1, 12) + residue, slide, offset))
    if queries > 3 and rng.random() < 0.3:
        windows[-1] = windows[0]
    return windows, rng.choice((0.01, 0.3, 1.0, 5.0, 100.0))
