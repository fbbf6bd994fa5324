"""Random arrivals: events out of order, never late, cut into batches."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from hypothesis import strategies as st

from tests.jobs.engine.world import SECOND, Row, near_overflow, odd_row

ORIGINS = [0, -45 * SECOND, -3_000_000 * SECOND - 1, 1_700_000_000 * SECOND]
LATENESS = [0, 1, SECOND, 7 * SECOND]


@dataclass(frozen=True)
class Arrival:
    """Batches as they arrive, and how late an event may be."""

    batches: list[list[Row]]
    lateness: int

    @property
    def events(self) -> list[Row]:
        """All events."""
        return [row for batch in self.batches for row in batch]

    @property
    def until(self) -> int | None:
        """The watermark after the last batch."""
        times = [row["ts"] for row in self.events if row["ts"] is not None]
        return max(times) - self.lateness if times else None


@st.composite
def times(draw: st.DrawFn) -> int:
    """Often on the edges of windows, often twice, sometimes after a gap longer than any range."""
    half_seconds = draw(st.integers(0, 80))
    jitter = draw(st.sampled_from([0, 0, 0, 1, -1, 333_333]))
    gap = draw(st.sampled_from([0, 0, 0, 0, 4_000]))
    return half_seconds * SECOND // 2 + jitter + gap * SECOND


@st.composite
def arrivals(draw: st.DrawFn, least: int = 0, most: int = 60) -> Arrival:
    """Events that come in any order within the lateness, in one to five batches, some of them empty."""
    origin, lateness = draw(st.sampled_from(ORIGINS)), draw(st.sampled_from(LATENESS))
    drawn = draw(
        st.lists(st.tuples(times(), st.integers(0, 1 << 20), st.integers(0, 100)), min_size=least, max_size=most)
    )
    rows = [(origin + time, delay * lateness // 101, odd_row(origin + time, code)) for time, code, delay in drawn]
    ordered = [row for _, _, row in sorted(rows, key=lambda item: item[0] + item[1])]
    for position in draw(st.lists(st.integers(0, most), max_size=2)):
        ordered.insert(position, odd_row(None, position))
    ordered = near_overflow(ordered, draw(st.integers(0, most)))
    cuts = sorted(draw(st.lists(st.integers(0, len(ordered)), max_size=4)))
    bounds = [0, *cuts, len(ordered)]
    return Arrival([ordered[a:b] for a, b in pairwise(bounds)], lateness)
