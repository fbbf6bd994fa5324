"""What a tree's technique meets, edge by edge: a partial arrives, and some windows end."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from optimizer.windows import composite_slide, merged_edges
from optimizer.windows.window import Window

LONGEST_RUNS = 8  # longest windows that a count goes through: flips come once in a window
LEAST_RUN = 2000  # partials, so that a mean over random values settles


@dataclass(frozen=True)
class Answer:
    """A window that ends at an edge: which query's, and how many of the last partials it holds."""

    query: int
    partials: int


@dataclass(frozen=True)
class Schedule:
    """One composite slide: the answers due at every edge, and how many composite slides to run."""

    answers: tuple[tuple[Answer, ...], ...]
    windows: tuple[Window, ...]
    rounds: int

    @property
    def most_partials(self) -> int:
        """The partials of the window that has most."""
        return max(answer.partials for due in self.answers for answer in due)

    def run(self) -> Iterator[tuple[int, tuple[Answer, ...]]]:
        """The number of every partial and the answers due after it: as long to warm up as to count."""
        return enumerate(due for _ in range(2 * self.rounds) for due in self.answers)


def schedule(windows: Sequence[Window]) -> Schedule:
    """The schedule of a tree of distinct windows, in pairs."""
    distinct = tuple(sorted(set(windows)))
    length, edges = composite_slide(distinct), merged_edges(distinct)
    due: list[list[Answer]] = [[] for _ in edges]
    for query, window in enumerate(distinct):
        for start in range(window.offset % window.slide, length, window.slide):
            end = start + window.range
            partials = _edges_until(end, edges, length) - _edges_until(start, edges, length)
            due[bisect_left(edges, (end - 1) % length + 1)].append(Answer(query, partials))
    most = max(answer.partials for answers in due for answer in answers)
    return Schedule(tuple(map(tuple, due)), distinct, -(-max(LONGEST_RUNS * most, LEAST_RUN) // len(edges)))


def _edges_until(tick: int, edges: list[int], length: int) -> int:
    """How many edges there are in (0, tick]."""
    rounds, rest = divmod(tick, length)
    return rounds * len(edges) + bisect_right(edges, rest)
