"""A sliding window: range, slide and offset in ticks (microseconds, or rows of a key), and how it is cut into slices.

Windows and query ids come as columns, too: a tree of a million queries stays three arrays until somebody looks at
one.

Panes are slices of one size, the greatest common divisor of range and slide (Li et al., SIGMOD Record 2005). Pairs
cut a slide in two where a window ends (Krishnamurthy et al., SIGMOD 2006). Cutty has edges at the starts of windows
only, and a final may read the open partial (Carbone et al., CIKM 2016).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any, Final, overload

import numpy as np
import numpy.typing as npt

BEGINNING: Final = -(1 << 62)  # before every event: the watermark of a stream that has not started
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
PAIRS = "pairs"  # the default: no slicing of disjoint slices has fewer edges
PANES = "panes"
CUTTY = "cutty"


@dataclass(frozen=True, order=True, slots=True)
class Window:
    """The windows [k*slide + offset, k*slide + offset + range) for every integer k, as Spark's `window` aligns them."""

    range: int
    slide: int
    offset: int = 0
    rows: bool = False

    @property
    def fragment(self) -> int:
        """Where a pair is cut: the distance from a window's start edge to the end edge that follows it.

        >>> Window(10, 4).fragment, Window(8, 4).fragment
        (2, 0)
        """
        return self.range % self.slide

    @property
    def overlap_factor(self) -> float:
        """How many windows hold one event on average; what Spark multiplies every event by.

        >>> Window(10, 4).overlap_factor
        2.5
        """
        return self.range / self.slide


def distinct_sorted(values: IntArray) -> IntArray:
    """Return the distinct values, ascending; numpy's own hashes a million of them at a fifth of the speed of this sort.

    >>> distinct_sorted(np.array([7, 3, 7])).tolist()
    [3, 7]
    """
    ordered = np.sort(values)
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered


class WindowSet(Sequence[Window]):
    """An immutable sequence of windows that share a clock."""

    __slots__ = ("offset", "range", "rows", "slide")

    def __init__(self, range: IntArray, slide: IntArray, offset: IntArray, rows: bool = False) -> None:
        self.range, self.slide, self.offset, self.rows = range, slide, offset, rows

    @classmethod
    def of(cls, windows: Iterable[Window]) -> WindowSet:
        """Return the columns of these windows, in their order; all measured by one clock.

        >>> WindowSet.of([Window(16, 4), Window(8, 4)]).range.tolist()
        [16, 8]
        """
        in_order = list(windows)
        table = np.array([(w.range, w.slide, w.offset) for w in in_order], dtype=np.int64).reshape(-1, 3)
        return cls(table[:, 0], table[:, 1], table[:, 2], any(w.rows for w in in_order))

    def __len__(self) -> int:
        return len(self.range)

    @overload
    def __getitem__(self, index: int) -> Window: ...
    @overload
    def __getitem__(self, index: slice) -> WindowSet: ...
    def __getitem__(self, index: int | slice) -> Window | WindowSet:
        if isinstance(index, slice):
            return self.take(index)
        return Window(int(self.range[index]), int(self.slide[index]), int(self.offset[index]), self.rows)

    def __iter__(self) -> Iterator[Window]:
        for range_, slide, offset in self.tuples():
            yield Window(range_, slide, offset, self.rows)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, WindowSet):
            columns = zip(self._all, other._all, strict=True)
            return self.rows == other.rows and all(np.array_equal(a, b) for a, b in columns)
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash((self.rows, *(column.tobytes() for column in self._all)))

    def __repr__(self) -> str:
        return f"({', '.join(map(repr, self))})" if len(self) <= 8 else f"({self[0]!r}, ... {len(self)} windows)"

    @property
    def _all(self) -> tuple[IntArray, IntArray, IntArray]:
        return self.range, self.slide, self.offset

    def take(self, index: Any) -> WindowSet:
        """Return the windows at these positions.

        >>> WindowSet.of([Window(16, 4), Window(8, 4)]).take([1]).tuples()
        [(8, 4, 0)]
        """
        return WindowSet(self.range[index], self.slide[index], self.offset[index], self.rows)

    def tuples(self) -> list[tuple[int, int, int]]:
        """(range, slide, offset) of every window.

        >>> WindowSet.of([Window(16, 4), Window(8, 4, 1)]).tuples()
        [(16, 4, 0), (8, 4, 1)]
        """
        return list(zip(self.range.tolist(), self.slide.tolist(), self.offset.tolist(), strict=True))


class Ids(Sequence[int]):
    """The ids of in-memory queries: their positions in the list they came in."""

    __slots__ = ("positions",)

    def __init__(self, positions: IntArray) -> None:
        self.positions = positions

    def __len__(self) -> int:
        return len(self.positions)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Ids: ...
    def __getitem__(self, index: int | slice) -> int | Ids:
        return Ids(self.positions[index]) if isinstance(index, slice) else int(self.positions[index])

    def __iter__(self) -> Iterator[int]:
        return iter(self.positions.tolist())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Ids):
            return np.array_equal(self.positions, other.positions)
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(self.positions.tobytes())

    def __repr__(self) -> str:
        return repr(tuple(self)) if len(self) <= 20 else f"({self[0]}, ... {len(self)} queries)"


@dataclass(frozen=True)
class Slicing:
    """Where slices end, as (period, residue), and how many of them a window holds."""

    edges: Callable[[Window], set[tuple[int, int]]]
    partials: Callable[[Window], int]


def panes_edges(window: Window) -> set[tuple[int, int]]:
    """Return one progression: every pane ends at an edge.

    >>> panes_edges(Window(6, 4))
    {(2, 0)}
    """
    pane = gcd(window.range, window.slide)
    return {(pane, window.offset % pane)}


def panes_partials(window: Window) -> int:
    """Return the partials that a final combines.

    >>> panes_partials(Window(6, 4))
    3
    """
    return window.range // gcd(window.range, window.slide)


def pairs_edges(window: Window) -> set[tuple[int, int]]:
    """Return the starts of the windows and, when the slide does not divide the range, their ends.

    >>> sorted(pairs_edges(Window(7, 3)))
    [(3, 0), (3, 1)]
    """
    start, end = window.offset % window.slide, (window.offset + window.fragment) % window.slide
    return {(window.slide, start), (window.slide, end)}


def pairs_partials(window: Window) -> int:
    """Return the partials that a final combines: two a slide and the last fragment, or one a slide without a fragment.

    >>> pairs_partials(Window(7, 3))
    5
    """
    slides = window.range // window.slide
    return 2 * slides + 1 if window.fragment else slides


def cutty_edges(window: Window) -> set[tuple[int, int]]:
    """Return the starts of the windows.

    >>> cutty_edges(Window(7, 3))
    {(3, 0)}
    """
    return {(window.slide, window.offset % window.slide)}


def cutty_partials(window: Window) -> int:
    """Return the partials that a final combines, the open one included.

    >>> cutty_partials(Window(7, 3))
    3
    """
    return -(-window.range // window.slide)


SLICINGS: dict[str, Slicing] = {
    PANES: Slicing(panes_edges, panes_partials),
    PAIRS: Slicing(pairs_edges, pairs_partials),
    CUTTY: Slicing(cutty_edges, cutty_partials),
}
