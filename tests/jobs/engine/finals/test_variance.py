"""Variances beside exact arithmetic: how far from the truth ours are, and Spark's own."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

from tests.jobs.engine.runs import answers_in, run_in_process
from tests.worlds.streams import SECOND, instant
from tests.worlds.warehouse import make_world, query

EPSILON = 2.0**-53
EVENTS = 600
TIMES = [number * 6 * SECOND // EVENTS for number in range(EVENTS)]


def exact_variance(values: list[float]) -> tuple[Fraction, Fraction]:
    """The mean and the variance in fractions, which do not round."""
    parts = [Fraction(value) for value in values]
    mean = sum(parts) / len(parts)
    return mean, sum((part - mean) ** 2 for part in parts) / len(parts)


def spark_variance(values: list[float]) -> float:
    """What Spark's aggregate does in one partition: one value after the other, by Welford."""
    count = mean = m2 = 0.0
    for value in values:
        count += 1
        delta = value - mean
        mean += delta / count
        m2 += delta * (delta - delta / count)
    return m2 / count


def error(variance: float, values: list[float]) -> float:
    """The relative error, in units of what the size of the values makes of a double's rounding."""
    mean, exact = exact_variance(values)
    condition = math.sqrt(1 + mean**2 / exact)
    return abs(float((Fraction(variance) - exact) / exact)) / (EPSILON * condition)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e9, -1e9, 1e12])
def test_variances_are_as_near_to_the_truth_as_the_condition_allows(offset: float, tmp_path: Path) -> None:
    pick = random.Random(offset)
    values = [offset + pick.gauss(0, 1) for _ in TIMES]
    times = pa.array([instant(time) for time in (*TIMES, 60 * SECOND)], pa.timestamp("us", "UTC"))
    queries = [query("v", "var_pop(x)", 3 * SECOND, SECOND), query("shifted", f"var_pop(x - {offset!r})", 3 * SECOND)]
    world = make_world(tmp_path, [pa.table({"ts": times, "x": [*values, 0.0]})], queries, 0)
    plan = world.plan("shared")
    storage, manifests = run_in_process(world, plan)
    found = answers_in(world, storage, manifests[-1], plan)
    for id, offset_taken in (("v", 0.0), ("shifted", offset)):
        for (_, start), variance in found[id].items():
            window = [value for value, time in zip(values, TIMES, strict=True) if start <= time < start + 3 * SECOND]
            inside = [value - offset_taken for value in window]
            assert error(variance, inside) < 16
            assert error(spark_variance(inside), inside) < 16
        assert len(found[id]) == (8 if id == "v" else 2)
