"""What a suite is: a table made from both sides of an audit, and what is expected of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from expectations.sides.row import Sides

RTOL = 1e-9  # of sums of floats, which depend on the order of addition


@dataclass(frozen=True)
class Suite:
    """Expectations of a table, by name; a failing row is shown by the columns in `shown`."""

    table: Callable[[Sides], DataFrame]
    shown: tuple[str, ...]
    expectations: dict[str, Any]
