"""Counted operations: by hand where that is possible, and within the stated bound of every Omega."""

from __future__ import annotations

import pkgutil
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.algebra.techniques import CARDS
from optimizer.cost.omega import OMEGA
from optimizer.windows import Window, merged_edges
from tests.oracle import operations
from tests.oracle.operations import OPERATIONS, counted, estimated, omega_error
from tests.oracle.operations.bounds import BOUNDS, least_in_papers, within_bound
from tests.oracle.operations.daba import Bankers
from tests.oracle.operations.dyadic import blocks
from tests.oracle.operations.schedule import schedule

windows = st.sampled_from([1, 2, 3, 4, 6, 8, 12]).flatmap(
    lambda slide: st.builds(Window, st.integers(slide, 9 * slide), st.just(slide), st.integers(0, 5))
)


def papers_setting(random: Random) -> list[Window]:
    """Every window ends at every edge."""
    return [Window(random.randint(1, 70), 1) for _ in range(random.randint(1, 6))]


def any_slides(random: Random) -> list[Window]:
    slides = [random.choice([1, 2, 4, 5, 10, 20]) for _ in range(random.randint(1, 5))]
    return [Window(slide * random.randint(1, 12), slide) for slide in slides]


@pytest.mark.parametrize("technique", OPERATIONS)
@pytest.mark.parametrize("kind", [papers_setting, any_slides])
def test_counts_are_within_the_stated_bound(technique: str, kind: object) -> None:
    assert callable(kind)
    random = Random(technique)
    for _ in range(12):
        tree = kind(random)
        assert within_bound(technique, tree), (tree, counted(technique, tree), estimated(technique, tree))


@pytest.mark.parametrize("technique", OPERATIONS)
def test_in_the_papers_setting_omega_is_near_on_both_sides(technique: str) -> None:
    random = Random(technique)
    for _ in range(15):
        tree = [Window(random.randint(8, 70), 1) for _ in range(random.randint(1, 6))]
        assert counted(technique, tree) >= least_in_papers(technique, tree) - 1e-9, tree


@pytest.mark.parametrize("technique", OPERATIONS)
@given(tree=st.lists(windows, min_size=1, max_size=4))
@settings(max_examples=15, deadline=None)
def test_counts_with_fragments_and_offsets_are_within_the_stated_bound(technique: str, tree: list[Window]) -> None:
    assert within_bound(technique, tree)


def test_panes_by_hand() -> None:
    # 16/4 and 8/4 at every fourth tick: 4 and 2 partials, 3 and 1 combines
    assert counted("panes", [Window(16, 4), Window(8, 4)]) == 4


def test_inverse_is_exact() -> None:
    tree = [Window(16, 4), Window(16, 5), Window(8, 4)]
    assert counted("slick_deque_inv", tree) == estimated("slick_deque_inv", tree) == 4
    assert omega_error("slick_deque_inv", tree) == 0


@pytest.mark.parametrize(
    ("technique", "limit"), [("two_stacks", 3), ("two_stacks_block", 3), ("daba", 5), ("flat_fit", 3)]
)
def test_one_long_window_comes_near_the_papers_constant(technique: str, limit: int) -> None:
    assert 0.6 * limit < counted(technique, [Window(100, 1)]) <= limit


def test_daba_never_takes_more_than_eight_a_slide() -> None:
    random, queue = Random(1), Bankers()
    for _ in range(5000):
        size = queue.end - queue.first
        evicted = min(size, random.choice([0, 1, 1, 1, 2]))
        assert queue.insert() + queue.answer(size + 1 - evicted) <= 5 + 3 * max(1, evicted)
        assert queue.first <= queue.left <= queue.right <= queue.accumulated <= queue.back <= queue.end


def test_flat_fat_of_a_full_tree_only_renews_a_path() -> None:
    assert counted("flat_fat", [Window(64, 1)]) == 6


def test_selective_compares_at_most_twice_and_looks_up_once() -> None:
    assert 2.5 < counted("slick_deque_noninv", [Window(100, 1)]) < 3.5


def test_blocks_are_the_fewest() -> None:
    assert [blocks(0, 8, 8), blocks(1, 8, 8), blocks(3, 5, 8), blocks(8, 24, 8)] == [1, 3, 2, 2]


@given(st.lists(windows, min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_schedule_has_every_window_and_its_partials(tree: list[Window]) -> None:
    plan, edges = schedule(tree), merged_edges(tree)
    answers = [(answer.query, answer.partials) for due in plan.answers for answer in due]
    for query, window in enumerate(plan.windows):
        held = sorted(partials for number, partials in answers if number == query)
        period = len(held) * window.slide
        ticks = {edge % period for edge in edges}
        starts = range(window.offset, window.offset + period, window.slide)
        assert held == sorted(sum((s + t) % period in ticks for t in range(1, window.range + 1)) for s in starts)


def test_every_technique_has_a_card_an_omega_a_count_and_a_bound() -> None:
    assert set(CARDS) == set(OMEGA) == set(OPERATIONS) == set(BOUNDS)
    files = {module.name for module in pkgutil.iter_modules(operations.__path__)}
    assert files - {"schedule", "bounds", "dyadic"} == set(OPERATIONS)
