"""The exact counters of edges: equal wherever they apply. Estimates are in sampled.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from optimizer.windows.counters import bit_set, divisor_mask, f1, prime_recursion
from optimizer.windows.edges import Progressions


@dataclass(frozen=True)
class Counter:
    """A way to count a union of progressions, and whether it is one for these."""

    applies: Callable[[Progressions], bool]
    rate: Callable[[Progressions], Fraction]


COUNTERS: dict[str, Counter] = {
    "divisor_mask": Counter(divisor_mask.applies, divisor_mask.rate),
    "bit_set": Counter(bit_set.applies, bit_set.rate),
    "prime_recursion": Counter(prime_recursion.applies, prime_recursion.rate),
    "f1": Counter(f1.applies, f1.rate),
}
