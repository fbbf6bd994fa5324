"""Any windows, any slices, any cuts: the same windows with the same answers as the oracle."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.kernels import KERNELS
from jobs.kernels.algebra.operators import MOMENTS, OPS, lift, lower
from jobs.kernels.techniques.stream import advance, make
from optimizer.algebra.techniques import allowed
from optimizer.windows.window import Window
from tests.oracle import naive
from tests.oracle.naive_aggregates import same

windows = st.integers(1, 40).flatmap(lambda r: st.builds(Window, st.just(r), st.integers(1, r), st.integers(0, 50)))
steps = st.lists(st.tuples(st.integers(1, 30), st.none() | st.integers(-100, 100)), min_size=1, max_size=80)


@pytest.mark.parametrize("technique", KERNELS)
@given(st.lists(windows, min_size=1, max_size=4), steps, st.lists(st.integers(0, 80), max_size=3), st.integers(-99, 99))
@settings(max_examples=40, deadline=None)
def test_any_stream(
    technique: str, queries: list[Window], slices: list[tuple[int, int | None]], cuts: list[int], origin: int
) -> None:
    component = "sum" if allowed(technique, "sum") else "min"
    op = OPS[component, "int64"]
    starts = origin + np.cumsum([gap for gap, _ in slices])
    values = [value for _, value in slices]
    rows = lift(op, np.array([value or 0 for value in values]), np.array([value is not None for value in values]))
    state, until = make(technique, queries, component, "int64", capacity=2), int(starts[-1]) + 100
    found: list[dict[int, int | None]] = [{} for _ in queries]
    for low, high in pairwise([0, *sorted(min(cut, len(slices)) for cut in cuts), len(slices)]):
        state, answers = advance(state, starts[low:high], rows[low:high])
        collect(found, op, answers)
    _, answers = advance(state, starts[:0], rows[:0], until)
    collect(found, op, answers)
    events = [{"ts": int(start), "x": value} for start, value in zip(starts, values, strict=True)]
    for window, mine in zip(queries, found, strict=True):
        oracle = {start: value for (_, start), value in naive.answers(events, component, window).items()}
        assert list(mine) == sorted(oracle)
        assert mine == oracle


def collect(found: list[dict[int, int | None]], op: int, answers: object) -> None:
    query, start, rows, _ = answers  # type: ignore[misc]
    numbers, valid, _ = lower(op, rows)
    for q, s, number, ok in zip(query, start.tolist(), numbers.tolist(), valid, strict=True):
        found[q][s] = number if ok else None


@pytest.mark.parametrize("technique", [name for name in KERNELS if allowed(name, "moments")])
def test_variance_keeps_its_digits_when_the_mean_is_large(technique: str) -> None:
    values = 1e9 + np.random.default_rng(5).normal(size=400)
    window = Window(64, 8)
    _, answers = advance(make(technique, [window], "moments"), np.arange(400), lift(MOMENTS, values), until=464)
    oracle = naive.answers([{"ts": t, "x": float(x)} for t, x in enumerate(values)], "var_pop", window)
    for start, (count, _, m2, _) in zip(answers.start.tolist(), answers.rows.tolist(), strict=True):
        assert same(m2 / count, oracle[(), start], 1e-7)
