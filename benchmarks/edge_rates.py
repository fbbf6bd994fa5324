"""How much quicker divisor masks are than marking bits or F1: `python -m benchmarks.edge_rates`.

All ratios are of one run. The lattice of a catalog is built once, so it is timed apart from the look-ups.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from statistics import median
from time import process_time

import numpy as np

from optimizer.windows import EdgeSpace, Window, collapse, edge_rate, progressions
from optimizer.windows.counters import bit_set, f1, prime_recursion
from optimizer.windows.edges import divisors, union

SLIDES = 15


def seconds(action: Callable[[], object], repeat: int = 5) -> float:
    """The median CPU time of one call; other processes do not blur it."""
    times = []
    for _ in range(repeat):
        start = process_time()
        action()
        times.append(process_time() - start)
    return median(times)


def lookups() -> None:
    """15 slides that divide 10^6: masks over the divisors against the bit set and plain F1."""
    slides = Random(1).sample(divisors(10**6)[20:], SLIDES)
    windows = [Window(3 * slide, slide) for slide in slides]
    edges = tuple((slide, 0) for slide in sorted(slides))
    start = process_time()
    space = EdgeSpace([progressions(Window(slide, slide)) for slide in divisors(10**6)])
    print(f"lattice of the divisors of 10^6 built in {process_time() - start:.4f} s")
    masks = _masks(space, 2000)
    mask_time = seconds(lambda: [space.rate_float(mask) for mask in masks], 1) / len(masks)
    table = space.pair_table(masks[:500])
    pair_time = seconds(lambda: table.rates(7)) / 500
    call_time = seconds(lambda: [edge_rate(windows) for _ in range(200)]) / 200
    bit_time = seconds(lambda: bit_set.rate(edges))
    prime_time = seconds(lambda: prime_recursion.rate(edges))
    f1_time = seconds(lambda: f1.rate(edges), 1)
    assert edge_rate(windows) == bit_set.rate(edges) == f1.rate(edges) == prime_recursion.rate(edges)
    print(f"{'one edge rate by':<34}{'seconds':>12}{'x bit set':>12}{'x F1':>12}")
    for name, time in (
        ("divisor mask, rate_float(mask)", mask_time),
        ("divisor mask, pair table", pair_time),
        ("edge_rate(windows), all included", call_time),
        ("prime recursion", prime_time),
        ("bit set", bit_time),
        ("F1", f1_time),
    ):
        print(f"{name:<34}{time:>12.2e}{bit_time / time:>12,.0f}{f1_time / time:>12,.0f}")


def _masks(space: EdgeSpace, count: int) -> list[int]:
    """Sets of 15 classes that the space has not seen."""
    random, places = Random(2), range(len(space.classes))
    return [sum(1 << place for place in random.sample(places, SLIDES)) for _ in range(count)]


def large() -> None:
    """Composite slides far beyond any bit set."""
    random = Random(3)
    for name, fragments in (("no fragments", False), ("fragments", True)):
        slides = [random.randint(20, 1000) for _ in range(50)]
        edges = union(progressions(Window(s * 3 + (random.randrange(s) if fragments else 0), s)) for s in slides)
        time = seconds(partial(prime_recursion.rate, edges), 3)
        print(f"50 random slides up to 1000, {name}: exact in {time:.3f} s")


def classes() -> None:
    """A million windows into classes of equal edges, against one pass over their slides."""
    random = np.random.default_rng(4)
    for name, slides in (("10^3", divisors(1000)), ("10^6", divisors(10**6))):
        column = random.choice(np.array(slides), 1_000_000)
        ranges = column * random.integers(1, 10_000, len(column))
        time = seconds(partial(collapse, ranges, column))
        modulo = seconds(partial(np.mod, ranges, column))
        print(f"1,000,000 windows, slides from the factors of {name}: collapsed in {time / modulo:.1f} modulo passes")


if __name__ == "__main__":
    lookups()
    large()
    classes()
