"""Every kernel, component, stream and cut into batches gives what the oracle gives, exactly."""

from __future__ import annotations

import numpy as np
import pytest

from jobs.kernels import KERNELS
from jobs.kernels.algebra.operators import OPS
from jobs.kernels.techniques.stream import run
from optimizer.algebra.techniques import allowed
from tests.jobs.kernels.streams import STREAMS, WILD, WINDOWS, answered, expected, partials, values
from tests.oracle.naive_aggregates import same

CASES = [
    (technique, component, kind) for technique in KERNELS for component, kind in OPS if allowed(technique, component)
]
TOLERANCE = {"moments": 1e-12, "central_moments": 1e-12, "co_moments": 1e-12}


def cuts(stream: str) -> list[tuple[int, ...]]:
    """Not at all, at random, and after every slice."""
    slices = len({time for time, _ in {**STREAMS, **WILD}[stream]})
    rng = np.random.default_rng(len(stream))
    some = tuple(sorted(rng.integers(0, slices, 4).tolist()))
    return [(), some, tuple(range(1, slices))]


def assert_equal(got: list[dict[int, object]], want: list[dict[int, list[object]]], tolerance: float) -> None:
    for query, (mine, oracle) in enumerate(zip(got, want, strict=True)):
        assert list(mine) == sorted(oracle), f"windows of query {query}"
        for start, value in mine.items():
            equal = any(same(value, choice, tolerance) for choice in oracle[start])
            assert equal, f"query {query}, window {start}: {value}, {oracle[start]}"


@pytest.mark.parametrize(("technique", "component", "kind"), CASES)
def test_kernel_equals_oracle(technique: str, component: str, kind: str) -> None:
    streams = [*STREAMS, *(WILD if kind == "float64" else ())]
    for stream in streams:
        whole = None
        for cut in cuts(stream):
            got, raw = answered(technique, stream, component, kind, cut)
            assert_equal(got, expected(stream, component, kind), TOLERANCE.get(component, 0.0))
            bits = np.concatenate([answers.rows for answers in raw]).view(np.int64)
            whole = bits if whole is None else whole
            assert np.array_equal(bits, whole), "the same bits, whatever the cuts"


@pytest.mark.parametrize("technique", KERNELS)
def test_many_groups_in_one_call(technique: str) -> None:
    component, kind = ("max", "float64") if technique == "slick_deque_noninv" else ("sum", "int64")
    names = ["dense", "all null", "gaps and nulls", "long silence", "paper"]
    parts = [partials(name, component, kind) for name in names]
    starts, rows = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    offsets = np.cumsum([0, *(len(part[0]) for part in parts)])
    answers = run(technique, WINDOWS, component, offsets, starts, rows, until=100_000)
    for group, name in enumerate(names):
        mine = answers._replace(**{f: getattr(answers, f)[answers.group == group] for f in answers._fields})
        got: list[dict[int, object]] = [{} for _ in WINDOWS]
        for q, start, value in zip(mine.query, mine.start, values(name, component, kind, mine), strict=True):
            got[q][int(start)] = value
        assert_equal(got, expected(name, component, kind), 0.0)


@pytest.mark.parametrize("technique", KERNELS)
def test_only_windows_between_since_and_until(technique: str) -> None:
    component = "max" if technique == "slick_deque_noninv" else "count"
    starts, rows = partials("dense", component, "int64")
    offsets = np.array([0, len(starts)])
    everything = run(technique, WINDOWS, component, offsets, starts, rows, until=10_000)
    some = run(technique, WINDOWS, component, offsets, starts, rows, since=20, until=60)
    ends = everything.start + np.array([window.range for window in WINDOWS])[everything.query]
    inside = (ends > 20) & (ends <= 60)
    assert np.array_equal(some.start, everything.start[inside])
    assert np.array_equal(some.query, everything.query[inside])
    assert np.array_equal(some.rows[:, 0], everything.rows[inside, 0])
