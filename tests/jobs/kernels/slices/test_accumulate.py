"""Events folded into cells, then merged in any order: what the oracle says of each cell."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

from jobs.kernels.algebra.finish import Part, finish
from jobs.kernels.algebra.operators import COUNT, LAST, MAX, MIN, OPS, VALID, VALUE_COLUMNS, lower
from jobs.kernels.slices.accumulate import accumulate, merge_rows
from tests.jobs.kernels.streams import MOMENTS
from tests.oracle.naive_aggregates import OF_PAIRS, OF_VALUES, of_pairs, rank, same

CELLS = 4
FINISHED = {**MOMENTS, "first": "min", "argmin": "min", "last": "max", "argmax": "max"}


def drawn(kind: str, component: str, seed: int, count: int = 80) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    pick = random.Random(seed)
    cell = np.array([pick.randrange(CELLS - 1) for _ in range(count)])  # the last cell stays empty
    if kind == "float64":
        odd = [math.nan, math.inf, -math.inf, -0.0] if seed % 2 else [1e15, -0.0]
        values = np.array([pick.choice(odd) if pick.random() < 0.1 else pick.uniform(-9, 9) for _ in range(count)])
    else:
        large = 1 if component.startswith("bool") else 1 << 57
        values = np.array([pick.randrange(0 if large == 1 else -large, large + 1) for _ in range(count)])
    return cell, values, np.array([pick.random() < 0.8 and c != 1 for c in cell])


def expected(component: str, values: list[Any]) -> Any:
    name = FINISHED.get(component, component)
    if name in OF_PAIRS:
        return of_pairs(name, [(value, value) for value in values])
    return OF_VALUES["sum" if name == "sum_squares" else name](values)


def finished(component: str, op: int, rows: np.ndarray) -> list[Any]:
    if op in VALUE_COLUMNS:
        parts = tuple(rows[:, number] for number in VALUE_COLUMNS[op])
        values, valid = finish(FINISHED[component], [Part(parts, rows[:, VALID] != 0)])
        return [value if ok else None for value, ok in zip(values.tolist(), valid, strict=True)]
    values, valid, overflow = lower(op, rows)
    assert not overflow.any()
    return [value if ok or op == COUNT else None for value, ok in zip(values.tolist(), valid, strict=True)]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("component", "kind"), OPS)
def test_cells(component: str, kind: str, seed: int) -> None:
    op = OPS[component, kind]
    cell, values, valid = drawn(kind, component, seed)
    held = [values[(cell == c) & valid].tolist() for c in range(CELLS)]
    fits = [expected(component, found) for found in held]
    rows = accumulate(op, CELLS, cell, values, valid)
    assert all(same(a, b, 1e-9) for a, b in zip(finished(component, op, rows), fits, strict=True)), (
        finished(component, op, rows),
        fits,
    )
    if op in (MIN, MAX, LAST):
        taken = [values[int(row[1])] for row in rows if row[VALID]]
        assert all(same(rank(a), rank(b)) for a, b in zip(taken, (f for f in fits if f is not None), strict=True))


@pytest.mark.parametrize(("component", "kind"), OPS)
def test_merged_in_another_order(component: str, kind: str) -> None:
    op = OPS[component, kind]
    cell, values, valid = drawn(kind, component, seed=4)
    parts = [accumulate(op, CELLS, cell[n::3], values[n::3], valid[n::3]) for n in range(3)]
    shuffled = np.concatenate([parts[2], parts[0], parts[1]])
    merged = merge_rows(op, shuffled, np.arange(3 * CELLS), np.tile(np.arange(CELLS), 3), CELLS)
    fits = [expected(component, values[(cell == c) & valid].tolist()) for c in range(CELLS)]
    assert all(same(a, b, 1e-9) for a, b in zip(finished(component, op, merged), fits, strict=True))


def test_every_event_counts_without_a_mask() -> None:
    cell = np.array([0, 2, 2])
    assert accumulate(COUNT, 3, cell, np.zeros(3, np.int64), None)[:, 0].tolist() == [1, 0, 2]
    assert accumulate(OPS["sum", "float64"], 3, cell, np.array([1.5, 2.0, 3.0]), None)[:, 0].tolist() == [1.5, 0, 5]
