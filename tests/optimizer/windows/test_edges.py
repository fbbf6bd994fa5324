"""Edges, slicings and what is derived from them, against the oracle and the papers' worked examples."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.errors import HeddleError
from optimizer.windows import Window, composite_slide, edge_rate, merged_edges, progressions, weaveability
from optimizer.windows import window as slicing_module
from optimizer.windows.edges import canonical, intersection, period
from optimizer.windows.window import SLICINGS
from tests.oracle import naive

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "optimizer.json").read_text())

windows = st.builds(Window, range=st.integers(1, 90), slide=st.integers(1, 20), offset=st.integers(-30, 60))
trees = st.lists(windows, min_size=1, max_size=4)
short_trees = st.lists(st.builds(Window, st.integers(1, 40), st.integers(1, 12)), min_size=1, max_size=3)
progression = st.integers(1, 12).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


def ticks(edges: Any, until: int) -> set[int]:
    return {tick for size, residue in edges for tick in range(residue, until, size)}


@pytest.mark.parametrize("case", GOLDEN["edges"], ids=lambda case: case["name"] or str(case["queries"])[:40])
def test_golden_edge_rates(case: dict[str, Any]) -> None:
    tree = [Window(*query) for query in case["queries"]]
    assert composite_slide(tree) == int(case["lcm"])
    assert edge_rate(tree) == Fraction(case["rate"])
    assert edge_rate(tree) * composite_slide(tree) == int(case["count"])


def test_cikm11_example_2_weaves_a_quarter_of_its_edges() -> None:
    (case,) = GOLDEN["weaveability"]
    left, right = Window(*case["a"]), Window(*case["b"])
    assert merged_edges([left, right]) == case["edges"]
    assert weaveability([left], [right]) == Fraction(1, 4)


def test_cikm11_example_4_counts_the_edges_of_both() -> None:
    tree = [Window(7, 5), Window(6, 3)]
    assert merged_edges(tree) == [2, 3, 5, 6, 7, 9, 10, 12, 15]
    assert edge_rate(tree) == Fraction(9, 15)


def test_sigmod06_composition_of_paired_windows() -> None:
    case = GOLDEN["sigmod06_composition"]
    tree = [Window(sum(pair) + pair[0], sum(pair)) for pair in (case["U"], case["V"])]
    edges = merged_edges(tree)
    assert edges == case["edges"]
    assert [end - start for start, end in pairwise([0, *edges])] == case["slices"]
    assert composite_slide(tree) == case["period"] == sum(case["slices"])


@given(trees, st.sampled_from(sorted(SLICINGS)))
@settings(max_examples=200, deadline=None)
def test_edges_are_the_oracles(tree: list[Window], slicing: str) -> None:
    length = composite_slide(tree)
    edges = merged_edges(tree, slicing)
    assert {edge % length for edge in edges} == naive.edges(tree, slicing)
    assert edges == sorted(set(edges))
    assert edge_rate(tree, slicing) == naive.edge_rate(tree, slicing)


@given(short_trees, short_trees)
@settings(max_examples=100, deadline=None)
def test_weaveability_is_the_oracles(left: list[Window], right: list[Window]) -> None:
    assert weaveability(left, right) == naive.weaveability(left, right)
    assert weaveability(left, left) == 1


@given(windows, windows)
@settings(max_examples=300, deadline=None)
def test_equal_edges_have_equal_progressions(left: Window, right: Window) -> None:
    length = composite_slide([left, right])
    same = naive.edges([left], period=length) == naive.edges([right], period=length)
    assert (progressions(left) == progressions(right)) == same


@given(st.lists(progression, min_size=1, max_size=6))
@settings(max_examples=200, deadline=None)
def test_canonical_keeps_every_edge(edges: list[tuple[int, int]]) -> None:
    length = 2 * period(edges)
    assert ticks(canonical(edges), length) == ticks(edges, length)


@given(progression, progression)
def test_intersection_is_what_both_have(left: tuple[int, int], right: tuple[int, int]) -> None:
    both = intersection(left, right)
    length = 2 * period([left, right])
    assert ticks([both] if both else [], length) == ticks([left], length) & ticks([right], length)


@given(windows)
@settings(max_examples=200, deadline=None)
def test_partials_per_window_are_the_slices_between_its_edges(window: Window) -> None:
    for name, slicing in SLICINGS.items():
        edges = naive.edges([window], name, window.slide)
        start = window.offset
        inside = sum((start + tick) % window.slide in edges for tick in range(1, window.range))
        assert slicing.partials(window) == inside + 1, name


def test_papers_table_of_partials_per_window() -> None:
    window = Window(18, 5)
    assert {name: slicing.partials(window) for name, slicing in SLICINGS.items()} == {
        "panes": 18,
        "pairs": 7,
        "cutty": 4,
    }


def test_pairs_never_have_more_edges_than_panes() -> None:
    for window in (Window(r, s) for s in range(1, 20) for r in range(s, 60)):
        assert edge_rate([window], "cutty") <= edge_rate([window]) <= edge_rate([window], "panes")


@pytest.mark.parametrize("window", [Window(10, 0), Window(0, 5), Window(10, -5)])
def test_a_window_without_length_is_refused_in_one_line(window: Window) -> None:
    with pytest.raises(HeddleError, match="positive"):
        edge_rate([window])


def test_unknown_slicings_and_empty_trees_are_refused_in_one_line() -> None:
    with pytest.raises(HeddleError, match="panes, pairs, cutty"):
        edge_rate([Window(10, 5)], "slices")
    with pytest.raises(HeddleError, match="at least one window"):
        weaveability([], [Window(10, 5)])
    assert edge_rate([]) == 0


def test_every_slicing_is_in_the_table() -> None:
    written = {name.removesuffix("_edges") for name in vars(slicing_module) if name.endswith("_edges")}
    assert written == set(SLICINGS)
    for name, slicing in SLICINGS.items():
        assert slicing.edges is getattr(slicing_module, f"{name}_edges")
        assert slicing.partials is getattr(slicing_module, f"{name}_partials")
