"""The suites: what is expected of the answers. A new one is a Suite in one of these modules, and a line in SUITES.

- answers: The engine's answers alone: every row once, counts that can be, smallest, mean and largest in order.
- comparison: The engine's answers beside those of plain Spark.
- suite: What a suite is, and the expectations of column pairs, as Spark orders numbers.
- validate: Run the suites over the tables of an audit, quietly.
"""

from __future__ import annotations

from expectations.suites.answers import ANSWERS, BOUNDS, COUNTS
from expectations.suites.comparison import COMPARISON
from expectations.suites.suite import Suite

SUITES: dict[str, Suite] = {
    "comparison": COMPARISON,
    "answers": ANSWERS,
    "counts": COUNTS,
    "bounds": BOUNDS,
}
