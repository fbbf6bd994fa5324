"""Windows with equal edges collapse into one class, a million at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optimizer.windows.edges import Progressions, canonical

Integers = NDArray[np.int64]


def collapse(
    ranges: Integers, slides: Integers, offsets: Integers | None = None
) -> tuple[list[Progressions], Integers]:
    """The distinct edge classes (pairs) of windows given as columns, and every window's class."""
    starts = np.zeros_like(slides) if offsets is None else offsets % slides
    ends = (starts + ranges) % slides
    low, high = np.minimum(starts, ends), np.maximum(starts, ends)
    keys, index = np.unique(np.stack([slides, low, high], axis=1), axis=0, return_inverse=True)
    found: dict[Progressions, int] = {}
    renumber = [
        found.setdefault(canonical({(slide, low), (slide, high)}), len(found)) for slide, low, high in keys.tolist()
    ]
    return list(found), np.array(renumber, dtype=np.int64)[index]
