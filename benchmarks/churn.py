"""Queries that join and leave a running plan: `python -m benchmarks.churn [--changes 500] [--queries 100]`.

After every change the plan is compared with an offline build of the same queries by the strategy that built it: how
much dearer it is, against the tolerance. Then what a change of a plan of 1,000 queries takes, as a share of a build.
Bounds: within the tolerance at every step; a change at most 2% of a build.
"""

from __future__ import annotations

import argparse
from random import Random
from statistics import mean
from time import process_time

from benchmarks.planning import CURRENCIES, RATE, TECHNIQUE, WORKLOADS
from benchmarks.verdict import Bound, print_verdict
from optimizer.plan.definition import Traffic
from optimizer.planning.running_plan import Member, RunningPlan
from optimizer.strategies.search.incremental import TOLERANCE
from optimizer.windows.window import Window

STRATEGIES = ("weave_share", "cascade")
MANY = 1_000
SAMPLE = 20  # changes of a large plan that are timed


def begin(windows: list[Window], strategy: str, currency: str) -> tuple[RunningPlan, float]:
    """Return a running plan of these queries that was just built, and the CPU seconds of the build."""
    running = RunningPlan(Traffic(RATE), TECHNIQUE, strategy=strategy, prices=CURRENCIES[currency])
    running.adopt([{f"q{number}": Member(window)} for number, window in enumerate(windows)])
    started = process_time()
    running.rebuild()
    return running, process_time() - started


def change_once(running: RunningPlan, fresh: list[Window], rng: Random, number: int, fewest: int) -> None:
    """Let a query join or leave, as likely one as the other."""
    if len(running.members) > fewest and rng.random() < 0.5:
        running.delete(rng.choice(sorted(running.members)))
    else:
        running.add(f"n{number}", rng.choice(fresh))


def follow(name: str, strategy: str, currency: str, queries: int, changes: int) -> float:
    """Print how far a plan strays from an offline build over many changes, and how often it was rebuilt; return the
    largest deviation."""
    windows, rng = WORKLOADS[name](2 * queries).windows(), Random(7)
    running, _ = begin(windows[:queries], strategy, currency)
    deviations, builds = [], 0
    for number in range(changes):
        change_once(running, windows, rng, number, queries // 2)
        builds += running.drift.changes == 0
        deviations.append(running.exact_deviation())
    beyond = sum(deviation > TOLERANCE for deviation in deviations)
    print(
        f"{name:<16}{strategy:<13}{currency:<12}{mean(deviations):>8.2%}{max(deviations):>8.2%}{beyond:>8}{builds:>8}",
        flush=True,
    )
    return max(deviations)


def price(name: str, strategy: str, currency: str) -> float:
    """Print and return what a change of a large plan takes, as a share of its build."""
    windows, rng = WORKLOADS[name](2 * MANY).windows(), Random(7)
    running, build = begin(windows[:MANY], strategy, currency)
    running.rebuilds = False  # a build is the other thing
    started = process_time()
    for number in range(SAMPLE):
        change_once(running, windows, rng, number, MANY // 2)
    took = (process_time() - started) / SAMPLE
    print(f"{name:<16}{strategy:<13}{currency:<12}{build:>8.2f}{took:>10.4f}{took / build:>8.2%}", flush=True)
    return took / build


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--changes", type=int, default=500)
    parser.add_argument("--queries", type=int, default=100)
    options = parser.parse_args()
    print(f"{options.changes} changes of {options.queries} queries, tolerance {TOLERANCE:.0%}")
    print(f"{'workload':<16}{'strategy':<13}{'currency':<12}{'mean':>8}{'most':>8}{'beyond':>8}{'builds':>8}")
    cases = [(name, strategy, currency) for name in WORKLOADS for strategy in STRATEGIES for currency in CURRENCIES]
    largest = max(follow(*case, options.queries, options.changes) for case in cases)
    print(f"\na change of {MANY:,} queries, CPU seconds")
    print(f"{'workload':<16}{'strategy':<13}{'currency':<12}{'build':>8}{'change':>10}{'share':>8}")
    dearest = max(price(*case) for case in cases)
    print_verdict(
        [
            Bound("largest deviation from an offline build, at any step", largest, TOLERANCE, ".2%"),
            Bound(f"a change of {MANY:,} queries, as a share of a build", dearest, 0.02, ".2%"),
        ]
    )


if __name__ == "__main__":
    main()
