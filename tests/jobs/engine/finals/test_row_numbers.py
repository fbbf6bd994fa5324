"""Rows are numbered key by key in event time; the watermark settles them, and windows of settled rows end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from jobs.engine.finals.tree_columns import Bounds, dropped_label, number_rows
from jobs.engine.slices.exchange import label
from optimizer.windows.window import BEGINNING
from tests.jobs.engine.finals.partials import event, only_root, partials_of
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import STREAM

QUERY: dict[str, Any] = {
    "id": "q",
    "stream": STREAM,
    "select": "sum(n)",
    "range": "2 rows",
    "slide": "1 rows",
    "group_by": ["k"],
}


def test_bounds() -> None:
    bounds = Bounds(np.array([0, 4]), np.array([3, 9]))
    assert bounds.inside(np.array([0, 0, 1, 1]), np.array([3, 4, 4, 5])).tolist() == [0, 3]
    assert bounds.span == (0, 9)


def test_rows_up_to_the_watermark_are_numbered(tmp_path: Path) -> None:
    events = [event(9, "a", 4), event(1, "a", 1), event(2, "b", 2), event(3, "a", 3)]
    program, incoming = partials_of(tmp_path, events, [QUERY])
    grouping, tree = only_root(program)
    name = label(grouping, tree)
    numbered = number_rows(grouping, tree, [], incoming[name], [], BEGINNING, 5 * SECOND)
    places = {key: place for place, key in enumerate(numbered.slices.keys["key k"].to_pylist())}
    settled = numbered.bounds.until - numbered.bounds.after
    assert {key: int(settled[place]) for key, place in places.items()} == {"a": 2, "b": 1}
    rows = zip(numbered.slices.group.tolist(), numbered.slices.start.tolist(), strict=True)
    assert sorted(rows) == sorted([(places["a"], 0), (places["a"], 1), (places["b"], 0)])
    # rows 0 and 1 of a are a window that has ended: no later one needs row 0
    assert numbered.before.to_pylist() == [{"key k": "a", "count": 1}]
    assert numbered.needed.num_rows == 3

    later = number_rows(grouping, tree, [numbered.needed], [], [numbered.before], 5 * SECOND, 20 * SECOND)
    place = later.slices.keys["key k"].to_pylist().index("a")
    assert (int(later.bounds.after[place]), int(later.bounds.until[place])) == (2, 3)
    assert later.needed.num_rows + sum(later.before["count"].to_pylist()) == len(events)
    assert dropped_label(name) == f"{name}|before"
