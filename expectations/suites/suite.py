"""What a suite is: a table made from both sides of an audit, and what is expected of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from expectations.sides.row import Sides, answer_text, window_text

RTOL = 1e-9  # of sums of floats, which depend on the order of addition


@dataclass(frozen=True)
class Suite:
    """Expectations of a table, by name; a failing row is shown by its `example_columns`."""

    table: Callable[[Sides], pd.DataFrame]
    example_columns: tuple[str, ...]
    expectations: dict[str, Any]


def readable(rows: pd.DataFrame) -> pd.DataFrame:
    """Return what tells rows apart as a person reads it: query, key, window, and the engine's answer."""
    windows = [window_text(*place) for place in zip(rows["start"], rows["end"], rows["rows"], strict=True)]
    answers = [answer_text(*answer) for answer in zip(rows["text"], rows["number"], strict=True)]
    columns = {"query": rows["query"], "key": rows["key"], "window": windows, "ours": answers}
    return pd.DataFrame(columns, index=rows.index, dtype=object)
