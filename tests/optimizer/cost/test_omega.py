"""Omega of every technique: golden vectors, the oracle, and loads that merge."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.cost.omega import INVERSE_FACTORIALS, OMEGA, Load, flat_fat_operations, omega, snap_to_whole
from optimizer.windows import Window, edge_rate
from tests.oracle import naive

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[2] / "golden" / "optimizer.json").read_text())["omega"]

windows = st.builds(Window, range=st.integers(1, 200), slide=st.integers(1, 24), offset=st.integers(0, 9))
trees = st.lists(windows, min_size=1, max_size=4)


def test_golden_flat_fat() -> None:
    partials = np.array([float(key) for key in GOLDEN["flatfat_f"]])
    assert flat_fat_operations(partials) == pytest.approx(list(GOLDEN["flatfat_f"].values()))


def test_golden_inverse_factorials() -> None:
    for terms, value in GOLDEN["invfact"].items():
        assert INVERSE_FACTORIALS[int(terms)] == pytest.approx(value)


@pytest.mark.parametrize("case", GOLDEN["noninv"], ids=str)
def test_golden_selective(case: dict[str, Any]) -> None:
    ranges = np.arange(case["Pmax"] - case["Q"] + 1, case["Pmax"] + 1)
    load = Load(case["Q"], 0.0, ranges, np.ones_like(ranges))
    assert omega("slick_deque_noninv", load, 1.0) == pytest.approx(case["value"])


@pytest.mark.parametrize("technique", OMEGA)
@given(tree=trees)
@settings(max_examples=40, deadline=None)
def test_omega_is_the_oracles(technique: str, tree: list[Window]) -> None:
    estimate = omega(technique, Load.of(tree), edge_rate(tree))
    assert estimate == pytest.approx(float(naive.omega(tree, technique)), rel=1e-12)


@given(st.sets(windows, min_size=2, max_size=6), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_merged_loads_are_the_load_of_all(distinct: set[Window], cut: int) -> None:
    tree = sorted(distinct)
    merged, whole = Load.of(tree[:cut]).merge(Load.of(tree[cut:])), Load.of(tree)
    assert merged.queries == whole.queries
    assert merged.overlap == pytest.approx(whole.overlap)
    assert merged.ranges.tolist() == whole.ranges.tolist()
    assert merged.counts.tolist() == whole.counts.tolist()
    assert (merged.distinct_ranges, merged.max_range) == (whole.distinct_ranges, whole.max_range)


def test_equal_windows_are_answered_once_and_offsets_are_not_equal() -> None:
    assert Load.of([Window(16, 4), Window(16, 4)]).queries == 1
    assert Load.of([Window(16, 4), Window(16, 4, 1)]).queries == 2
    assert Load.of([]).max_range == 0


@pytest.mark.parametrize("edges", [1, 3, 7, 33, 100, 123, 333, 997])
def test_rounding_never_moves_a_whole_number_of_partials_over_a_jump(edges: int) -> None:
    rate, ranges = Fraction(edges, 1000), np.arange(1, 2001, 3)
    exact = [float(naive.flat_fat_operations(int(length) * rate)) for length in ranges]
    assert flat_fat_operations(snap_to_whole(ranges * float(rate))) == pytest.approx(exact, rel=1e-9)


def test_half_a_partial_is_rounded_as_the_exact_rate_says() -> None:
    for slide in range(2, 40):
        tree = [Window(5 * slide // 2, 1), Window(slide, slide)]
        for rate in (Fraction(1, slide), Fraction(3, slide), Fraction(7, slide)):
            exact = naive.noninv_operations(2, max(window.range for window in tree) * rate)
            assert omega("slick_deque_noninv", Load.of(tree), rate) == pytest.approx(float(exact), rel=1e-12)


def test_every_omega_of_a_million_windows_is_one_number() -> None:
    slides = np.random.default_rng(1).choice(np.array([1, 10, 100, 1000]), 1_000_000)
    load = Load.of_columns(slides * 7, slides)
    assert load.queries == 1_000_000
    assert all(omega(technique, load, 1.0) > 0 for technique in OMEGA)
