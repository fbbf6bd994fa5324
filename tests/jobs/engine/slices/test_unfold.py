"""Shards unfolded by way of shards of fewer predicates: the same partials as folded one by one, in fewer folds."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.engine.program.program import MeasureProgram
from jobs.engine.slices.shards import Shards, Unfolding, order_by_likeness
from jobs.kernels.algebra.operators import COUNT, MAX, OPS, lift
from jobs.kernels.slices.accumulate import merge_rows

CELLS = 3
BASES = [
    MeasureProgram("count(*)", "count", COUNT, "int64", "", "", ""),
    MeasureProgram("sum(i)", "sum", OPS["sum", "int64"], "int64", "i", "", ""),
    MeasureProgram("max(i)", "max", MAX, "int64", "i", "", ""),
]


def shards_of(cell: list[int], code: list[int]) -> Shards:
    values = np.arange(len(cell)) * 7 % 11
    rows = {base.key: lift(base.op, np.ones_like(values) if base.op == COUNT else values) for base in BASES}
    return Shards(np.array(cell, np.int64), np.array(code, np.int64), np.arange(len(cell)), rows)


def unfolded(shards: Shards, tests: np.ndarray) -> tuple[dict[tuple[int, str], list[list[int]]], int]:
    """Per predicate and measure the values of every cell, and the folds it took."""
    order = order_by_likeness(tests)
    assert sorted(order.tolist()) == list(range(tests.shape[1]))
    unfolding = Unfolding(dict.fromkeys(range(tests.shape[1]), BASES), CELLS)
    found, folds = {}, 0
    for bit, held in unfolding.by_predicate(shards, tests[:, order], order):
        for base in BASES:
            rows = merge_rows(base.op, held.rows[base.key], held.row, held.cell, CELLS)
            found[bit, base.key] = rows[:, [0, 3]].tolist()
            folds += len(held.row)
    return found, folds + unfolding.folded


def one_by_one(shards: Shards, tests: np.ndarray) -> tuple[dict[tuple[int, str], list[list[int]]], int]:
    found, folds = {}, 0
    for bit in range(tests.shape[1]):
        held = np.flatnonzero(tests[shards.code, bit])
        for base in BASES:
            rows = merge_rows(base.op, shards.rows[base.key], held, shards.cell[held], CELLS)
            found[bit, base.key] = rows[:, [0, 3]].tolist()
            folds += len(held)
    return found, folds


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 20))
def test_the_same_as_one_by_one(data: st.DataObject, predicates: int) -> None:
    signatures = data.draw(st.lists(st.integers(0, (1 << predicates) - 1), min_size=1, max_size=30, unique=True))
    tests = np.array([[bool(s >> bit & 1) for bit in range(predicates)] for s in signatures], np.bool_)
    entries = data.draw(
        st.lists(st.tuples(st.integers(0, CELLS - 1), st.integers(0, len(signatures) - 1)), max_size=60)
    )
    shards = shards_of([cell for cell, _ in entries], [code for _, code in entries])
    (found, folds), (expected, most) = unfolded(shards, tests), one_by_one(shards, tests)
    assert found == expected
    assert folds <= most


def test_nested_predicates_take_far_fewer_folds() -> None:
    predicates = 128
    shuffled = np.random.default_rng(3).permutation(predicates)
    tests = (np.arange(predicates + 1)[:, None] > shuffled[None, :]).astype(np.bool_)
    shards = shards_of([0] * len(tests), list(range(len(tests))))
    (found, folds), (expected, most) = unfolded(shards, tests), one_by_one(shards, tests)
    assert found == expected
    assert folds * 6 < most
