"""The oracle's edges and costs against the golden vectors."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from optimizer.windows.window import Window
from tests.oracle import naive

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "optimizer.json").read_text())
TECHNIQUES = {
    "panes": "panes",
    "flatfat": "flat_fat",
    "flatfit": "flat_fit",
    "inv": "slick_deque_inv",
    "noninv": "slick_deque_noninv",
}


def windows_of(pairs: list[list[int]]) -> list[Window]:
    return [Window(range=r, slide=s) for r, s in pairs]


@pytest.mark.parametrize("case", [case for case in GOLDEN["edges"] if int(case["lcm"]) <= 1_000_000])
def test_edges(case: dict[str, Any]) -> None:
    windows = windows_of(case["queries"])
    assert naive.composite_slide(windows) == int(case["lcm"])
    assert len(naive.edges(windows)) == int(case["count"])
    assert naive.edge_rate(windows) == Fraction(case["rate"])


@pytest.mark.parametrize("case", GOLDEN["weaveability"])
def test_weaveability(case: dict[str, Any]) -> None:
    a, b = windows_of([case["a"], case["b"]])
    period = naive.composite_slide([a, b])
    assert naive.edges([a, b]) == {edge % period for edge in case["edges"]}
    assert naive.weaveability([a], [b]) == Fraction(case["value"])


def test_slicings() -> None:
    window = Window(range=10, slide=6, offset=1)
    assert naive.edges([window], "pairs") == {1, 5}
    assert naive.edges([window], "panes") == {1, 3, 5}
    assert naive.edges([window], "cutty") == {1}


def test_composed_slices() -> None:
    case = GOLDEN["sigmod06_composition"]
    period = case["period"]
    marks = {
        (turn + edge) % period
        for slices in (case["U"], case["V"])
        for turn in range(0, period, sum(slices))
        for edge in accumulate(slices)
    }
    assert marks == {edge % period for edge in case["edges"]}
    assert sum(case["slices"]) == period


def test_omega() -> None:
    for partials, value in GOLDEN["omega"]["flatfat_f"].items():
        assert float(naive.flat_fat_operations(Fraction(partials))) == pytest.approx(value, rel=1e-12)
    for case in GOLDEN["omega"]["noninv"]:
        operations = naive.noninv_operations(case["Q"], Fraction(case["Pmax"]))
        assert float(operations) == pytest.approx(case["value"], rel=1e-12)


@pytest.mark.parametrize("case", GOLDEN["plans"])
@pytest.mark.parametrize("kind", TECHNIQUES)
def test_cost_of_a_partition(case: dict[str, Any], kind: str) -> None:
    windows, rate, golden = windows_of(case["queries"]), Fraction(str(case["lam"])), case["kinds"][kind]
    partitions = {
        "noshare": [[window] for window in windows],
        "shared": [windows],
        "greedy": [windows_of(tree) for tree in golden["greedy_trees"]],
    }
    for name, partition in partitions.items():
        cost = naive.weave_share_cost(partition, rate, TECHNIQUES[kind])
        assert float(cost) == pytest.approx(golden[name], rel=1e-9)


@pytest.mark.parametrize("case", [case for case in GOLDEN["plans"] if len(case["queries"]) <= 5])
@pytest.mark.parametrize("kind", TECHNIQUES)
def test_best_partition(case: dict[str, Any], kind: str) -> None:
    windows, rate, golden = windows_of(case["queries"]), Fraction(str(case["lam"])), case["kinds"][kind]
    best = {model: float(naive.best_partition(windows, rate, TECHNIQUES[kind], model)[0]) for model in naive.COSTS}
    assert best["weave_share"] == pytest.approx(golden["optimum"], rel=1e-9)
    # the golden TriWeave plan is a greedy one, which enumeration can only undercut
    assert best["tri_weave"] <= golden["triweave_A1"] * (1 + 1e-9)
    cascade = golden.get("cascade_optimum_class_level", best["cascade"])
    assert best["cascade"] == pytest.approx(cascade, rel=1e-9)
    assert best["cascade"] <= min(best.values()) * (1 + 1e-9)


def test_bell_numbers() -> None:
    windows = [Window(range=slide, slide=slide) for slide in range(1, 6)]
    assert [len(list(naive.partitions(windows[:n]))) for n in range(6)] == [1, 1, 2, 5, 15, 52]
