"""The exact counters of edges: equal wherever they apply. Estimates are in rates.py.

- bit_set: Mark every edge of a composite slide in a bit set and count the marks.
- divisor_mask: Divisor mask: without residues, x modulo L matters only by its greatest common divisor with L.
- f1: F1: inclusion and exclusion over all subsets, residues by the Chinese remainder theorem. 2^n.
- prime_recursion: Residues modulo different prime powers are independent: recurse over the primes, on any catalog.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from optimizer.windows.counters import bit_set, divisor_mask, f1, prime_recursion
from optimizer.windows.edges import Edges


@dataclass(frozen=True)
class Counter:
    """A way to count a union of progressions, and whether it is one for these."""

    applies: Callable[[Edges], bool]
    rate: Callable[[Edges], Fraction]


COUNTERS: dict[str, Counter] = {
    "divisor_mask": Counter(divisor_mask.applies, divisor_mask.rate),
    "bit_set": Counter(bit_set.applies, bit_set.rate),
    "prime_recursion": Counter(prime_recursion.applies, prime_recursion.rate),
    "f1": Counter(f1.applies, f1.rate),
}
