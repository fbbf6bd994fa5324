"""All counters count alike, on thousands of random catalogs; estimates stay between their bounds."""

from __future__ import annotations

import pkgutil
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest

from optimizer.windows import EdgeSpace, Window, counters, edge_rate, progressions
from optimizer.windows.counters import COUNTERS, bit_set
from optimizer.windows.counters.prime_recursion import BudgetError, rate
from optimizer.windows.edges import Edges, divisors, factorize, period, union
from optimizer.windows.rates import estimate

PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23]


def primes(random: Random) -> list[Window]:
    return [Window(slide * random.randint(1, 9), slide) for slide in random.sample(PRIMES, random.randint(1, 5))]


def residues(random: Random) -> list[Window]:
    slides = [random.randint(1, 30) for _ in range(random.randint(1, 4))]
    return [Window(random.randint(slide, 5 * slide), slide) for slide in slides]


def offsets(random: Random) -> list[Window]:
    slides = [random.randint(1, 16) for _ in range(random.randint(1, 4))]
    return [Window(random.randint(slide, 5 * slide), slide, random.randint(-40, 40)) for slide in slides]


def common_offset(random: Random) -> list[Window]:
    offset, slides = random.randint(0, 99), random.choices(divisors(3600)[1:], k=random.randint(1, 6))
    return [Window(slide * random.randint(1, 9), slide, offset) for slide in slides]


def prime_residues(random: Random) -> list[Window]:
    slides = random.sample(PRIMES[:6], random.randint(1, 4))
    return [Window(random.randint(slide, 5 * slide), slide, random.randint(0, 9)) for slide in slides]


KINDS = [primes, residues, offsets, common_offset, prime_residues]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.__name__))
def test_all_counters_are_equal(kind: object) -> None:
    assert callable(kind)
    random, used = Random(kind.__name__), dict.fromkeys(COUNTERS, 0)
    for _ in range(1100):
        edges = union(map(progressions, kind(random)))
        rates = {name: counter.rate(edges) for name, counter in COUNTERS.items() if _cheap(name, edges)}
        assert len(set(rates.values())) == 1, (edges, rates)
        for name in rates:
            used[name] += 1
    assert used["prime_recursion"] == 1100
    assert min(used["f1"], used["bit_set"]) > 900
    assert used["divisor_mask"] > 50


def _cheap(name: str, edges: Edges) -> bool:
    if name == "f1" and len(edges) > 8:
        return False
    return COUNTERS[name].applies(edges) and (name != "bit_set" or period(edges) <= 1_000_000)


@pytest.mark.parametrize("seed", range(5))
def test_fifty_random_slides_up_to_a_thousand_are_exact(seed: int) -> None:
    random = Random(seed)
    classes = [progressions(Window(slide, slide)) for slide in (random.randint(20, 1000) for _ in range(50))]
    space = EdgeSpace(classes)
    everything = (1 << len(classes)) - 1
    assert space.composite_slide(everything) > 10**45
    exact = space.rate(everything)
    assert space.exact
    assert space.bounds(everything) == (exact, exact)
    ticks = [random.randrange(space.composite_slide(everything)) for _ in range(4_000)]
    hits = sum(any(tick % size == 0 for part in classes for size, _ in part) for tick in ticks)
    assert float(exact) == pytest.approx(hits / len(ticks), abs=0.04)


def test_fifty_random_slides_with_fragments_are_exact() -> None:
    random = Random(7)
    slides = [random.randint(20, 1000) for _ in range(50)]
    space = EdgeSpace([progressions(Window(random.randint(slide, 9 * slide), slide)) for slide in slides])
    everything = (1 << len(space.classes)) - 1
    assert float(space.rate(everything)) == pytest.approx(space.rate_float(everything), rel=0.03)
    assert space.exact


def test_beyond_the_budget_an_estimate_keeps_its_bounds() -> None:
    random = Random(3)
    for _ in range(20):
        slides = [random.randint(2, 40) for _ in range(7)]
        edges = union(progressions(Window(random.randint(slide, 5 * slide), slide)) for slide in slides)
        exact = rate(edges)
        found = estimate(edges, budget=30)
        assert found.low <= exact <= found.high
        assert found.low <= found.rate <= found.high
        assert float(found.rate) == pytest.approx(float(exact), rel=0.1)


def random_classes(count: int, longest: int) -> list[Edges]:
    random = Random(5)
    slides = [random.randint(20, longest) for _ in range(count)]
    return [progressions(Window(random.randint(slide, 5 * slide), slide)) for slide in slides]


def test_a_space_says_when_it_is_inexact() -> None:
    space = EdgeSpace(random_classes(120, 100_000), budget=3_000)
    assert space.rate(0b111) > 0
    assert space.exact
    everything = (1 << 120) - 1
    low, high = space.bounds(everything)
    assert low <= space.rate(everything) <= high
    assert low < high
    assert not space.exact


def test_a_search_beyond_its_budget_goes_on_with_samples() -> None:
    classes = random_classes(40, 2_000)
    exact, spent = EdgeSpace(classes), EdgeSpace(classes, budget=0)
    for count in (1, 2, 5, 20, 40):
        mask = (1 << count) - 1
        assert spent.rate_float(mask) == pytest.approx(exact.rate_float(mask), rel=0.1)
        assert spent.rate_float(mask) <= spent.rate_float(mask | 1 << 39)
    assert exact.exact
    assert spent.exact, "searches ask for no results"


def test_tiny_rates_keep_their_digits() -> None:
    hour = 3_600_000_000
    space = EdgeSpace(
        [progressions(Window(7 * hour, hour)), progressions(Window(hour * 91 + 1, 13 * hour, 17))], 10_000
    )
    for mask in (0b01, 0b10, 0b11):
        assert space.rate_float(mask) == pytest.approx(float(space.rate(mask)), rel=1e-12)


def test_no_classes_have_no_edges() -> None:
    for classes in ([], [progressions(Window(3, 2))], random_classes(9, 10**6)):
        space = EdgeSpace(classes)
        assert space.rate(0) == space.rate_float(0) == 0


def test_a_spent_budget_is_an_error_of_the_recursion_alone() -> None:
    edges = union(progressions(Window(5 * slide + 3, slide)) for slide in range(20, 60))
    with pytest.raises(BudgetError):
        rate(edges, budget=10)


def test_a_chain_of_many_primes_is_counted_or_estimated() -> None:
    chain = [number for number in range(1000, 4000) if len(factorize(number)) == 1 and number % 2]
    space = EdgeSpace([progressions(Window(a * b, a * b)) for a, b in pairwise(chain)], budget=20_000)
    everything = (1 << len(space.classes)) - 1
    low, high = space.bounds(everything)
    total = sum(Fraction(1, a * b) for a, b in pairwise(chain))
    assert 0 < low <= space.rate(everything) <= high <= total


def test_large_slides_in_microseconds() -> None:
    minute = 60_000_000
    tree = [Window(5 * minute, minute), Window(90 * minute, 7 * minute), Window(minute + 1, minute, 3)]
    assert edge_rate(tree) == rate(union(map(progressions, tree)))
    assert edge_rate([Window(minute, minute)]) == Fraction(1, minute)


def test_bit_set_groups_ticks_that_no_class_tells_apart() -> None:
    classes = [progressions(Window(30, 20)), progressions(Window(50, 40)), progressions(Window(100, 25))]
    atoms = bit_set.atoms(classes)
    assert atoms is not None
    assert atoms.size < 200 // 5
    assert [Fraction(atoms.count(bits), atoms.length) for bits in atoms.bits] == [rate(part) for part in classes]


def test_every_counter_is_in_the_table() -> None:
    files = {module.name for module in pkgutil.iter_modules(counters.__path__)}
    assert files == set(COUNTERS)
