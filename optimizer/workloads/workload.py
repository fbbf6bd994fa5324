"""A workload: many windows, and the few shapes of query that ask for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from optimizer.windows.window import Window

Ticks: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Shape:
    """What a query asks apart from its window."""

    select: str = "max(energy_1)"
    where: str = ""
    group_by: str = ""
    stream: str = "sensors"


@dataclass(frozen=True, eq=False)
class Workload:
    """Windows in ticks, side by side; query i asks for shapes[shape[i]] over (range[i], slide[i])."""

    range: Ticks
    slide: Ticks
    shapes: tuple[Shape, ...] = (Shape(),)
    shape: Ticks | None = None  # None: every query has the only shape
    rate: float = 1000.0  # lambda: events a second

    def __len__(self) -> int:
        return len(self.range)

    @property
    def stream(self) -> str:
        """The stream that all its queries read."""
        return self.shapes[0].stream

    def windows(self) -> list[Window]:
        """The same windows as objects."""
        pairs = zip(self.range.tolist(), self.slide.tolist(), strict=True)
        return [Window(range=range_, slide=slide) for range_, slide in pairs]

    def shape_of(self, query: int) -> Shape:
        """What query number `query` asks."""
        return self.shapes[0 if self.shape is None else int(self.shape[query])]
