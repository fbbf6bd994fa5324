"""Plans as data: round trip, fingerprint, explanation, columns, and mistakes in one line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from optimizer import Plan, Window, optimize
from optimizer.errors import HeddleError
from optimizer.plan.explain import length
from optimizer.strategies.contract.problem import pack
from optimizer.windows.window import Ids, WindowSet

WINDOWS = [Window(16, 4), Window(10, 5), Window(8, 4), Window(7, 3, 1)]


def test_explain_says_why_the_plan_is_good() -> None:
    plan = optimize(WINDOWS, 1.2, "tri_weave", "panes")
    text = plan.explain()
    for word in ("no_share cost", "shared cost", "planned cost", "saving", f"trees         {len(plan.trees)}"):
        assert word in text
    lines = text.splitlines()[-len(plan.trees) :]
    for tree, line in zip(plan.trees, lines, strict=True):
        assert line.startswith(f"  {tree.id}: ")
        assert f"edge rate {tree.edge_rate}" in line
        assert f"fed by {tree.feed}" in line


def test_the_fingerprint_is_of_the_content() -> None:
    plan = optimize(WINDOWS, 1.2, "weave_share", "panes")
    assert plan.fingerprint() == optimize(WINDOWS[::-1], 1.2, "weave_share", "panes").fingerprint()
    assert plan.fingerprint() != optimize(WINDOWS[:3], 1.2, "weave_share", "panes").fingerprint()
    assert plan.fingerprint() != optimize(WINDOWS, 1.2, "weave_share", "flat_fit").fingerprint()
    assert plan.fingerprint() != optimize(WINDOWS, 1.2, "no_share", "panes").fingerprint()


def test_arrays_and_lists_give_the_same_plan() -> None:
    columns = [np.array(column) for column in zip(*((w.range, w.slide, w.offset) for w in WINDOWS), strict=True)]
    assert (
        optimize(columns, 1.2, strategy="weave_share", technique="auto").to_json()
        == optimize(WINDOWS, 1.2, strategy="weave_share", technique="auto").to_json()
    )
    bare = [w for w in WINDOWS if not w.offset]
    pair = np.array([w.range for w in bare]), np.array([w.slide for w in bare])
    assert optimize(pair, 1.2, strategy="weave_share", technique="auto") == optimize(
        bare, 1.2, strategy="weave_share", technique="auto"
    )


def test_windows_in_rows_are_planned_apart() -> None:
    plan = optimize(
        [*WINDOWS, Window(100, 10, rows=True), Window(50, 10, rows=True)], 3.0, strategy="weave_share", technique="auto"
    )
    clocks = [{window.rows for window in tree.windows} for tree in plan.trees]
    assert all(len(clock) == 1 for clock in clocks)
    assert {True} in clocks
    assert plan.cost == pytest.approx(plan.recomputed_cost(), rel=1e-12)
    assert Plan.from_json(plan.to_json()) == plan


def test_edges_are_progressions() -> None:
    plan = optimize([Window(7, 3, 1)], 1.0, strategy="weave_share", technique="auto")
    assert plan.trees[0].edges() == ((3, 1), (3, 2))


def test_equal_windows_share_a_tree_and_count_once() -> None:
    once, twice = (optimize(WINDOWS * times, 1.2, "weave_share", "flat_fit") for times in (1, 2))
    assert once.cost == twice.cost
    assert twice.costs.no_share == pytest.approx(2 * once.costs.no_share)
    assert twice.costs.shared == once.costs.shared


def test_offsets_a_whole_slide_apart_are_the_same_window() -> None:
    plan = optimize([Window(8, 4, 1), Window(8, 4, 5)], 1.0, "weave_share", "flat_fit")
    assert [len(tree.windows) for tree in plan.trees] == [1]


@pytest.mark.parametrize(
    ("windows", "rate", "strategy", "technique", "line"),
    [
        ([], 1.0, "weave_share", "auto", "no windows to plan"),
        ([Window(4, 8)], 1.0, "weave_share", "auto", "at most the range"),
        ([Window(4, 0)], 1.0, "weave_share", "auto", "at least 1"),
        (WINDOWS, 0.0, "weave_share", "auto", "rate 0.0 makes no sense"),
        (WINDOWS, float("nan"), "weave_share", "auto", "rate nan makes no sense"),
        (WINDOWS, 1.0, "weaveshare", "auto", "did you mean weave_share?"),
        (WINDOWS, 1.0, "weave_share", "flatfat", "did you mean flat_fat?"),
        (WINDOWS, 1.0, "xyz", "auto", "use one of no_share"),
        ([Window(n, n) for n in range(1, 20)], 1.0, "exhaustive", "panes", "12 distinct windows"),
    ],
)
def test_mistakes_get_one_line(windows: list[Window], rate: float, strategy: str, technique: str, line: str) -> None:
    with pytest.raises(HeddleError, match=line.replace("?", r"\?")) as caught:
        optimize(windows, rate, strategy, technique)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"format": 1}', '{"format": 99}'])
def test_what_is_no_plan_gets_one_line(text: str) -> None:
    with pytest.raises(HeddleError):
        Plan.from_json(text)


def test_damaged_plans_never_give_a_traceback() -> None:
    whole = json.loads(optimize(WINDOWS, 1.2, "tri_weave", technique="auto").to_json())
    for field in ("trees", "traffic", "costs", "stream"):
        for value in (None, 3, "x", [1], {"a": 1}):
            damaged = json.dumps(whole | {field: value})
            if field == "stream" and isinstance(value, str):
                continue
            with pytest.raises(HeddleError):
                Plan.from_json(damaged)


def test_columns_behave_like_tuples() -> None:
    windows = WindowSet.of(WINDOWS)
    assert windows == tuple(WINDOWS)
    assert windows[1:3] == tuple(WINDOWS[1:3])
    assert windows[-1] == WINDOWS[-1]
    assert Window(16, 4) in windows
    assert len({windows, WindowSet.of(WINDOWS)}) == 1
    ids = Ids(np.array([3, 5]))
    assert ids == (3, 5)
    assert ids[1] == 5
    assert list(ids[:1]) == [3]


def test_packing_keeps_the_order_of_rows() -> None:
    rng = np.random.default_rng(1)
    for high in (5, 10**7, 2**61):
        columns = [rng.integers(-3 if high == 5 else 0, high, 200) for _ in range(3)]
        packed = pack(*columns)
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        distinct = list(zip(*(column.tolist() for column in packed.distinct()), strict=True))
        assert distinct == sorted(set(rows))
        assert [distinct[position] for position in packed.positions()] == rows


def test_lengths_read_well() -> None:
    plan = optimize(WINDOWS, 1.0, strategy="weave_share", technique="auto")
    assert length(plan, 90, rows=False) == "90"
    assert length(plan, 90, rows=True) == "90 rows"
