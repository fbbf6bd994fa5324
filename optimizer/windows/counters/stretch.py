"""For searches over many classes: the edges of one stretch of time, long against every period, as a bit set.

Every progression has its share of the stretch but for one edge, and no mask outweighs a larger one.
"""

from __future__ import annotations

from collections.abc import Sequence

from optimizer.windows.atoms import Atoms
from optimizer.windows.counters.bit_set import comb
from optimizer.windows.edges import Edges, all_progressions, common_step, rescaled

FEW = 64  # classes; the edges of fewer are counted
PERIODS = 256  # that fit into the stretch, at least
SHORTEST, LONGEST = 1 << 15, 1 << 20
MOST_BITS = 1 << 28  # of all classes together


def atoms(classes: Sequence[Edges]) -> Atoms | None:
    """Every tick of the stretch is an atom; None where the classes are few, or some periods too long."""
    everything = all_progressions(classes)
    step, shift = common_step(everything)
    size = max(SHORTEST, PERIODS * max(period for period, _ in everything) // step)
    if len(classes) <= FEW or size > LONGEST or size * len(classes) > MOST_BITS:
        return None
    return Atoms(size * step, [_marks(rescaled(edges, step, shift), size) for edges in classes], size)


def _marks(edges: Edges, size: int) -> int:
    bits = 0
    for period, residue in edges:
        bits |= comb(period, size + period) << residue
    return bits & ((1 << size) - 1)
