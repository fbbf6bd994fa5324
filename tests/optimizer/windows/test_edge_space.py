"""Masks of classes: rates, pairs, containment, whatever counter is behind them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.windows import EdgeSpace, Window, composite_slide, progressions
from optimizer.windows.atoms import ones
from optimizer.windows.edge_space import mask_of
from tests.oracle import naive

SLIDES = {
    "divisor_mask": st.sampled_from([1, 2, 4, 5, 8, 10, 20, 25, 40, 50, 100]).map(lambda s: Window(3 * s, s)),
    "bit_set": st.builds(Window, st.integers(1, 90), st.integers(2, 18), st.integers(0, 30)),
    "prime_recursion": st.sampled_from([101, 103, 107, 109, 202, 206, 303, 30, 42]).map(lambda s: Window(3 * s + 2, s)),
}


@pytest.mark.parametrize("kind", ["divisor_mask", "bit_set"])
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_masks_are_the_union_of_their_windows(kind: str, data: st.DataObject) -> None:
    windows = data.draw(st.lists(SLIDES[kind], min_size=1, max_size=4))
    space = EdgeSpace([progressions(window) for window in windows])
    masks = range(1, 1 << len(windows))
    trees = {mask: [windows[place] for place in ones(mask)] for mask in masks}
    length = composite_slide(windows)
    edges = {mask: naive.edges(tree, period=length) for mask, tree in trees.items()}
    for mask, tree in trees.items():
        assert space.rate(mask) == naive.edge_rate(tree)
        assert space.rate_float(mask) == float(space.rate(mask))
        assert space.bounds(mask) == (space.rate(mask), space.rate(mask))
        for other in masks:
            assert space.contains(mask, other) == (edges[mask] >= edges[other])


@pytest.mark.parametrize("kind", sorted(SLIDES))
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_pairs_are_rates_of_merged_masks(kind: str, data: st.DataObject) -> None:
    windows = data.draw(st.lists(SLIDES[kind], min_size=2, max_size=8))
    space = EdgeSpace([progressions(window) for window in windows])
    masks = [1 << place for place in range(len(windows))]
    table = space.pair_table(masks)
    while len(masks) > 1:
        expected = [float(space.rate(masks[0] | mask)) for mask in masks]
        assert space.pair_rates(masks[0], masks) == pytest.approx(expected, rel=1e-12)
        assert table.rates(0)[: len(masks)] == pytest.approx(expected, rel=1e-12)
        masks[0] |= masks.pop()
        table.merge(0, len(masks))


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_containment_without_atoms(data: st.DataObject) -> None:
    windows = data.draw(st.lists(SLIDES["prime_recursion"], min_size=2, max_size=5))
    space = EdgeSpace([*map(progressions, windows), progressions(Window(10**15, 10**15, 1))])
    everything = (1 << len(windows)) - 1
    mask = data.draw(st.integers(1, everything))
    assert space.contains(everything, mask)
    assert space.contains(mask, everything) == (space.rate(mask) == space.rate(everything))


def test_two_halves_contain_a_whole() -> None:
    far = progressions(Window(10**15, 10**15))
    space = EdgeSpace([progressions(Window(14, 14)), progressions(Window(14, 14, 7)), progressions(Window(7, 7)), far])
    assert space.contains(0b011, 0b100)
    assert not space.contains(0b001, 0b100)


def test_masks_and_places() -> None:
    assert list(ones(0b10110)) == [1, 2, 4]
    assert mask_of([1, 2, 4]) == 0b10110
    assert EdgeSpace([]).classes == ()


def test_memory_of_rates_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optimizer.windows.edge_space.MOST_REMEMBERED", 2)
    space = EdgeSpace([progressions(Window(3 * slide, slide)) for slide in (4, 5, 6)])
    first = [space.rate(mask) for mask in range(1, 8)]
    assert [space.rate(mask) for mask in range(1, 8)] == first


def test_searches_over_many_classes_look_at_samples() -> None:
    windows = [Window(slide * 5 + 1 + slide % 7, slide) for slide in range(11, 80)]
    space = EdgeSpace([progressions(window) for window in windows])
    for places in ([3], [0, 1], range(5), range(0, 48, 6)):
        mask = mask_of(places)
        assert space.rate_float(mask) == pytest.approx(float(space.rate(mask)), rel=0.05)
        assert space.rate_float(mask) <= space.rate_float(mask | 1 << 48)
        assert space.pair_table([mask, 1 << 48]).rates(0)[1] == pytest.approx(space.rate_float(mask | 1 << 48))
        assert not space.contains(mask, 1 << 48)
        assert space.contains(mask | 1 << 48, mask)
    assert space.contains(mask_of(range(69)), mask_of(range(40)))
    assert space.exact
