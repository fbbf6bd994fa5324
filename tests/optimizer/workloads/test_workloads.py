"""Every workload: the same by seed, within its bounds, shaped as its paper says."""

from __future__ import annotations

import math
from importlib import import_module
from inspect import isfunction, signature
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optimizer.workloads
from optimizer.errors import HeddleError
from optimizer.windows import edge_rate
from optimizer.workloads import WORKLOADS, workload
from optimizer.workloads.workload import factors_of


def test_the_table_forgets_no_generator() -> None:
    files = Path(optimizer.workloads.__file__).parent.glob("[!_]*.py")
    members = [member for file in files for member in vars(import_module(f"optimizer.workloads.{file.stem}")).items()]
    functions = {name: member for name, member in members if isfunction(member) and not name.startswith("_")}
    generators = {name for name, function in functions.items() if signature(function).return_annotation == "Workload"}
    assert generators == set(WORKLOADS)
    assert all(card.generate.__name__ == name for name, card in WORKLOADS.items())


@pytest.mark.parametrize("name", WORKLOADS)
@settings(max_examples=20, deadline=None)
@given(queries=st.integers(1, 100), seed=st.integers(0, 2**63 - 1))
def test_seeds_decide_and_windows_are_windows(name: str, queries: int, seed: int) -> None:
    drawn, again = (workload(name, queries, seed=seed) for _ in range(2))
    windows = drawn.windows()
    assert windows == again.windows()
    assert [drawn.shape_of(i) for i in range(queries)] == [again.shape_of(i) for i in range(queries)]
    assert len(drawn) == len(windows) == queries
    assert all(1 <= window.slide <= window.range for window in windows)
    assert drawn.stream == WORKLOADS[name].stream


@pytest.mark.parametrize("name", WORKLOADS)
def test_another_seed_is_another_workload(name: str) -> None:
    drawn = [workload(name, 30, seed=seed) for seed in range(6)]
    assert len({(*one.windows(), *one.shapes) for one in drawn}) > 1


@given(s_max=st.integers(1, 5000), o_max=st.integers(1, 50), z_skew=st.floats(0, 3), residues=st.booleans())
@settings(max_examples=40, deadline=None)
def test_factors(s_max: int, o_max: int, z_skew: float, residues: bool) -> None:
    drawn = workload("factors", 50, s_max=s_max, o_max=o_max, z_skew=z_skew, residues=residues, rate=7.0)
    assert drawn.rate == 7.0
    for window in drawn.windows():
        assert s_max % window.slide == 0
        assert window.range <= o_max * window.slide
        assert residues or window.fragment == 0


def test_factors_of() -> None:
    assert factors_of(12).tolist() == [1, 2, 3, 4, 6, 12]
    assert factors_of(1).tolist() == [1]
    assert factors_of(49).tolist() == [1, 7, 49]


@pytest.mark.parametrize("name", ["factors", "zipf_slides"])
def test_skew_makes_large_slides_popular(name: str) -> None:
    small, even, large = (workload(name, 2000, z_skew=skew).slide.mean() for skew in (-1.0, 0.0, 1.0))
    assert small < 0.8 * even < even < large


def test_defaults_are_the_papers_middle_points() -> None:
    assert (workload("factors", 1).rate, workload("zipf_slides", 1).rate) == (1.0, 50.0)
    overlaps = workload("factors", 5000).range / workload("factors", 5000).slide
    assert 9000 < overlaps.max() <= 10_000
    slides = workload("zipf_slides", 5000, z_skew=3.3).slide
    assert (slides > 99_990).mean() > 0.95  # almost only the largest slides are left


def test_residues() -> None:
    for name in ("factors", "zipf_slides"):
        drawn = workload(name, 200, s_max=1000, residues=True)
        assert (drawn.range % drawn.slide != 0).sum() > 50


@pytest.mark.parametrize("hopping", [False, True])
def test_factor_windows(hopping: bool) -> None:
    chosen, stepped = (workload(name, 40, seed=3, hopping=hopping) for name in ("random_gen", "sequential_gen"))
    for drawn in (chosen, stepped):
        assert (drawn.range == drawn.slide * (2 if hopping else 1)).all()
        assert len(set(drawn.windows())) == 40
    seed = stepped.slide[0] // 2
    assert stepped.slide.tolist() == [seed * k for k in range(2, 42)]
    assert seed in ((5, 10, 20) if hopping else (2, 5, 10))


@given(queries=st.integers(1, 300), seed=st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_trades(queries: int, seed: int) -> None:
    a, b, c, low = (workload(name, queries, seed) for name in ("trades_a", "trades_b", "trades_c", "trades_c_low"))
    for drawn in (a, c, low):
        assert all(600 <= window.range <= 900 and 300 <= window.slide <= 600 for window in drawn.windows())
    assert {(shape.where, shape.group_by) for shape in a.shapes} == {("", "")}
    assert {(window.range, window.slide) for window in b.windows()} == {(600, 600)}
    side = math.isqrt(queries - 1) + 1
    pairs = {(window, c.shape_of(number)) for number, window in enumerate(c.windows())}
    assert len(pairs) == queries
    assert len(c.shapes) == side >= len(set(c.windows()))
    for drawn in (b, low):
        assert len({drawn.shape_of(number) for number in range(queries)}) == queries
    assert len(set(low.windows())) == queries


def test_a_square_of_queries_has_the_root_of_windows_and_predicates() -> None:
    drawn = workload("trades_c", 144)
    assert len(set(drawn.windows())) == len({drawn.shape_of(number) for number in range(144)}) == 12


def test_predicates_choose_evenly() -> None:
    texts = [shape.where for shape in workload("trades_b", 6000).shapes]
    for part in ("r3000", "r2000", "r1000"):
        assert 1800 < sum(part in text for text in texts) < 2200
    for part in ("NOT ", " > "):
        assert 2800 < sum(part in text for text in texts) < 3200
    quantities = [text.split(" AND ")[1].split(" >")[0].split(" <")[0] for text in texts]
    assert set(quantities) == {"volume", "price * volume", "abs(price - close) / close"}


def test_pairs_cut_workload_a_less_often_than_panes() -> None:
    windows = workload("trades_a", 16, seed=1).windows()
    assert edge_rate(windows) < 0.2 * edge_rate(windows, slicing="panes")


@pytest.mark.parametrize(
    ("name", "queries", "options", "line"),
    [
        ("factor", 1, {}, "there is no workload 'factor'"),
        ("factors", 0, {}, "--queries 0 is out of range"),
        ("factors", 1, {"seed": -1}, "--seed -1 is out of range"),
        ("factors", 1, {"s_max": 0}, "--s-max 0 is out of range"),
        ("factors", 1, {"o_max": 0}, "--o-max 0 is out of range"),
        ("factors", 1, {"rate": 0.0}, "--rate 0 is out of range"),
        ("zipf_slides", 1, {"z_skew": float("nan")}, "--z-skew nan is out of range"),
        ("trades_a", 1, {"hopping": True}, "trades_a takes no --hopping"),
        ("trades_b", 10_001, {}, "--queries 10001 is out of range"),
        ("random_gen", 1000, {}, "random_gen has 113 distinct windows"),
        ("random_gen", 1, {"multiples": 1}, "--multiples 1 is out of range"),
    ],
)
def test_mistakes_get_one_line(name: str, queries: int, options: dict[str, object], line: str) -> None:
    with pytest.raises(HeddleError, match=line) as caught:
        workload(name, queries, **options)
    assert "\n" not in str(caught.value)
