"""The suites: what is expected of the answers. A new one is a module with a SUITE, and a line in SUITES.

- answers: The engine's answers alone: every row once, and in a window that there is.
- bounds: Smallest, mean and largest of the same events, from different queries: in that order.
- comparison: The engine's answers beside those of plain Spark.
- counts: The engine's counts: none is null or negative.
- suite: What a suite is, and the expectations of column pairs, as Spark orders numbers.
- validate: Run the suites over the tables of an audit, quietly.
"""

from __future__ import annotations

from expectations.suites import answers, bounds, comparison, counts
from expectations.suites.suite import Suite

SUITES: dict[str, Suite] = {
    "comparison": comparison.SUITE,
    "answers": answers.SUITE,
    "counts": counts.SUITE,
    "bounds": bounds.SUITE,
}
