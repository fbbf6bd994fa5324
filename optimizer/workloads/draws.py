"""What the generators draw with: Zipf's law, the factors of a number, ranges for slides, checked parameters."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from optimizer.errors import HeddleError
from optimizer.workloads.workload import Ticks


def zipf_weights(count: int, skew: float) -> npt.NDArray[np.float64]:
    """Zipf's law over `count` ranks, summing to 1; skew 0 is uniform."""
    weights = np.arange(1, count + 1, dtype=np.float64) ** -skew
    return np.asarray(weights / weights.sum())


def factors_of(number: int) -> Ticks:
    """Every divisor, smallest first."""
    small = [divisor for divisor in range(1, int(number**0.5) + 1) if number % divisor == 0]
    return np.array(sorted({*small, *(number // divisor for divisor in small)}), dtype=np.int64)


def ranges_for(slides: Ticks, largest_overlap: int, residues: bool, rng: np.random.Generator) -> Ticks:
    """A range per slide: a whole overlap factor from 1 up to the largest; with residues, any range in between."""
    if residues:
        return rng.integers(slides, slides * largest_overlap, endpoint=True)
    return slides * rng.integers(1, largest_overlap, len(slides), endpoint=True)


def require(name: str, value: float, low: float, high: float) -> None:
    """Refuse a parameter out of its range, in the user's words."""
    if not low <= value <= high:
        raise HeddleError(f"{option_name(name)} {value:g} is out of range; it goes from {low:g} to {high:g}")


def option_name(name: str) -> str:
    """A parameter as the user types it."""
    return "--" + name.replace("_", "-")
