"""A workload: many windows, the few shapes of query that ask for them, and the card that describes its generator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import getdoc, signature
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from optimizer.windows.window import Window

Ticks: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Shape:
    """A query without its window: what it selects, of which events, by which keys, from which stream."""

    select: str = "max(energy_1)"
    where: str = ""
    group_by: str = ""
    stream: str = "sensors"


@dataclass(frozen=True, eq=False)
class Workload:
    """Windows in ticks as columns: query i has shapes[shape[i]] over (range[i], slide[i]).

    >>> two = Workload(np.array([60, 30]), np.array([10, 30]))
    >>> len(two), two.stream, two.windows()[1].slide, two.shape_of(1).select
    (2, 'sensors', 30, 'max(energy_1)')
    """

    range: Ticks
    slide: Ticks
    shapes: tuple[Shape, ...] = (Shape(),)
    shape: Ticks | None = None  # None: every query has the only shape
    rate: float = 1000.0  # lambda: events a second

    def __len__(self) -> int:
        return len(self.range)

    @property
    def stream(self) -> str:
        """The stream that all queries of the workload read."""
        return self.shapes[0].stream

    def windows(self) -> list[Window]:
        """Return the windows as objects."""
        pairs = zip(self.range.tolist(), self.slide.tolist(), strict=True)
        return [Window(range=range_, slide=slide) for range_, slide in pairs]

    def shape_of(self, query: int) -> Shape:
        """Return the shape of query number `query`."""
        return self.shapes[0 if self.shape is None else int(self.shape[query])]


@dataclass(frozen=True)
class Card:
    """A workload's generator, the paper it comes from, and the stream its queries read.

    The command line and docs/workloads.md are made from it.
    """

    generate: Callable[..., Workload]
    paper: str
    stream: str = "sensors"

    @property
    def about(self) -> str:
        """What the generator draws: the docstring's first line."""
        return (getdoc(self.generate) or "").partition("\n")[0]

    @property
    def options(self) -> dict[str, object]:
        """The generator's parameters besides the number of queries, with their defaults."""
        parameters = signature(self.generate).parameters.values()
        return {parameter.name: parameter.default for parameter in parameters if parameter.name != "queries"}
