"""The suites: what is expected of the answers. A new one is a Suite in one of these modules, and a line in SUITES.

- answers: What is expected of the answers: that they equal plain Spark's, and what holds of the engine's alone.
- suite: What a suite is, and the expectations of column pairs, as Spark orders numbers.
- validate: Run the suites over the tables of an audit, quietly.
"""

from __future__ import annotations

from expectations.suites.answers import ANSWERS, BOUNDS, COMPARISON, COUNTS
from expectations.suites.suite import Suite

SUITES: dict[str, Suite] = {
    "comparison": COMPARISON,
    "answers": ANSWERS,
    "counts": COUNTS,
    "bounds": BOUNDS,
}
