"""A tree's shards: one partial per key, slice and signature, from which the slices of every predicate are folded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from jobs.engine.events.keys import signature_column
from jobs.engine.program.program import SIGNATURE, Grouping, Input, MeasureProgram, TreeProgram
from jobs.engine.slices.shards import TreeShards
from jobs.engine.slices.slices import Slices
from jobs.kernels.algebra.operators import COUNT, lift
from optimizer.plan.definition import EVENTS

BASE = MeasureProgram("count(*)", "count", COUNT, "int64", "", "", "")
ALL_EVENTS, FIRST, SECOND = (replace(BASE, key=f"count {where}", where=where) for where in ("", "p0", "p1"))
TREE = TreeProgram(
    "t",
    ((10, 0),),
    EVENTS,
    10,
    (ALL_EVENTS, FIRST, SECOND),
    (),
    {},
    bits=(Input("p0", "x > 0"), Input("p1", "x > 1")),
    bases=dict.fromkeys((ALL_EVENTS.key, FIRST.key, SECOND.key), BASE),
)


def test_a_predicates_slices_are_folded_from_the_shards_that_pass_it() -> None:
    """In slice [0, 10) of key a lie 3 events that pass nothing, 4 that pass p0, and 5 that pass both."""
    tests = np.array([[False, False], [True, False], [True, True]])
    keys = pa.table({"key k": ["a", "a", "a"]}).append_column(SIGNATURE, signature_column(tests))
    rows = {"count(*)": lift(COUNT, np.array([3, 4, 5]))}
    shards = Slices(keys, np.array([0, 1, 2, 3]), np.array([0, 0, 0]), rows, {})
    slices, folded = TreeShards(shards, Grouping(("k",), (pa.string(),), (TREE,)), TREE).slices(TREE.measures)
    assert slices.keys.to_pydict() == {"key k": ["a"]}
    assert slices.start.tolist() == [0]
    counts = {measure.key: int(slices.rows[measure.key][0, 0]) for measure in TREE.measures}
    assert counts == {ALL_EVENTS.key: 12, FIRST.key: 9, SECOND.key: 5}
    assert folded == 3 + 2 + 1
