"""How long planning takes, and how good weave_share is: `python -m benchmarks.planning [QUERIES ...]`.

Workloads of windows (factors of a slide, any slide by Zipf's law, irregular slides, the latter two with residues) are
planned in both currencies: the papers' operations, and seconds by fixed prices, so that every machine searches alike.
Printed per workload and size: CPU seconds by the default strategy, and what weave_share costs beside the best of
insert_then_weave, local_search and shared. Bounds: 1,000 queries within 2 CPU seconds, 100,000 within 60; 10,000
irregular ones within 20 times 1,000; weave_share within 2% of the best of the others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import process_time

import numpy as np

from benchmarks.verdict import Bound, print_verdict
from optimizer import optimize
from optimizer.plan.counters import TYPICAL
from optimizer.plan.definition import Plan
from optimizer.plan.prices import Prices
from optimizer.planning.choices import STRATEGY
from optimizer.workloads import Workload
from optimizer.workloads.generators import factors, zipf_slides

RATE = 10.0
SIZES = (100, 1_000, 10_000, 100_000)
LIMITS = {1_000: 2.0, 100_000: 60.0}  # CPU seconds of the default strategy
OTHERS = ("insert_then_weave", "local_search", "shared")
TECHNIQUE = "two_stacks_block"
PRICES = Prices(TYPICAL)  # a typical machine's: a search does not depend on the digits
CURRENCIES = {"operations": None, "seconds": PRICES}


def irregular(queries: int, seed: int = 0) -> Workload:
    """Slides of 60 to 3,600 ticks, any number equally likely, and ranges that are no multiples of them."""
    rng = np.random.default_rng(seed)
    slides = rng.integers(60, 3_600, queries, endpoint=True)
    return Workload(rng.integers(slides, slides * 20, endpoint=True), slides)


WORKLOADS: dict[str, Callable[[int], Workload]] = {
    "factors": factors,
    "zipf_slides": zipf_slides,
    "zipf, residues": lambda queries: zipf_slides(queries, residues=True),
    "irregular": irregular,
}


def plan_timed(windows: Workload, strategy: str, prices: Prices | None) -> tuple[Plan, float]:
    """Return a plan and the CPU seconds that it took to make."""
    started = process_time()
    plan = optimize((windows.range, windows.slide), RATE, strategy, TECHNIQUE, prices=prices)
    return plan, process_time() - started


def cost_in(plan: Plan, prices: Prices | None) -> float:
    """Return what a plan costs in the currency that it was searched in."""
    return plan.cost if prices is None or plan.costs.seconds is None else plan.costs.seconds


def compare(name: str, queries: int, currency: str) -> tuple[float, float]:
    """Plan one workload by all of them, print a line, and return the CPU seconds of the default strategy and what
    weave_share costs, as a ratio to the best of the others."""
    prices, windows = CURRENCIES[currency], WORKLOADS[name](queries)
    _, default_seconds = plan_timed(windows, STRATEGY, prices)
    woven, woven_seconds = plan_timed(windows, "weave_share", prices)
    others = {other: cost_in(plan_timed(windows, other, prices)[0], prices) for other in OTHERS}
    best = min(others, key=lambda other: others[other])
    ratio = cost_in(woven, prices) / others[best]
    print(
        f"{name:<16}{queries:>9,}  {currency:<12}{default_seconds:>9.2f}{woven_seconds:>13.2f}"
        f"{len(woven.trees):>7}{ratio:>9.3f} of {best}",
        flush=True,
    )
    return default_seconds, ratio


def main(sizes: tuple[int, ...]) -> None:
    """Print a line per workload, size and currency."""
    print(f"CPU seconds of planning; the default strategy is {STRATEGY}")
    print(f"{'workload':<16}{'queries':>9}  {'currency':<12}{'default':>9}{'weave_share':>13}{'trees':>7}{'cost':>9}")
    optimize((np.array([10]), np.array([5])), RATE)  # imports and first calls are not planning
    cases = [(name, queries, currency) for name in WORKLOADS for currency in CURRENCIES for queries in sizes]
    planned = {case: compare(*case) for case in cases}
    bounds = [Bound("weave_share, to the best of the others", max(ratio for _, ratio in planned.values()), 1.02, ".3f")]
    for size, limit in LIMITS.items():
        if size in sizes:
            slowest = max(seconds for (_, queries, _), (seconds, _) in planned.items() if queries == size)
            bounds.append(Bound(f"CPU seconds of {size:,} queries by {STRATEGY}", slowest, limit, ".2f"))
    for currency in CURRENCIES if {1_000, 10_000} <= set(sizes) else ():
        few, many = (planned["irregular", queries, currency][0] for queries in (1_000, 10_000))
        bounds.append(Bound(f"10,000 irregular queries, times 1,000, in {currency}", many / few, 20, ".1f"))
    print_verdict(bounds)


if __name__ == "__main__":
    main(tuple(int(size) for size in sys.argv[1:]) or SIZES)
