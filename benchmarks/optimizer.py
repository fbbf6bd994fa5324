"""How planning scales, and how much cascades save: `python -m benchmarks.optimizer`.

All ratios are of one run, in CPU time. The unit is the literal greedy of the paper over 100 queries of the same kind
(tests/strategies/literal.py); a million queries are drawn and planned in a few times that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import mean
from time import process_time

from optimizer import optimize
from optimizer.algebra.techniques import CARDS
from optimizer.cost.omega import OMEGA
from optimizer.workloads.generators import factors
from tests.optimizer.strategies.literal import literal_greedy

MILLION = 1_000_000
RATE = 10.0
FORMULAS = [name for name in CARDS if name == next(n for n in CARDS if OMEGA[n] is OMEGA[name])]  # one of each
KINDS = (("factors of 1,000", 1000, False), ("factors of 10^6", 10**6, False), ("1,000, residues", 1000, True))


def seconds(action: Callable[[], object]) -> float:
    """CPU time of one call."""
    start = process_time()
    action()
    return process_time() - start


def planning(queries: int, o_max: int = 10_000) -> None:
    """Many queries by WeaveShare against the literal greedy over 100."""
    print(f"{queries:,} queries, arrays included, against the literal greedy over 100 queries (CPU seconds)")
    print(f"{'slides':<18}{'technique':<20}{'literal 100':>12}{'many':>10}{'ratio':>8}{'trees':>8}{'saving':>9}")
    optimize(factors(100).windows(), RATE)  # imports and first calls are not planning
    for name, s_max, residues in KINDS:
        few = factors(100, 1, s_max, o_max, residues=residues).windows()
        for technique in FORMULAS:
            literal = seconds(lambda few=few, technique=technique: literal_greedy(few, RATE, technique))
            start = process_time()
            many = factors(queries, 1, s_max, o_max, residues=residues)
            plan = optimize((many.range, many.slide), RATE, "weave_share", technique)
            took = process_time() - start
            print(
                f"{name:<18}{technique:<20}{literal:>12.2f}{took:>10.2f}{took / literal:>8.2f}"
                f"{len(plan.trees):>8}{plan.saving:>9.1%}",
                flush=True,
            )


def cascades(seeds: int = 5) -> None:
    """The middle point of the papers' table: 100 queries, S_max 1K, O_max 10K."""
    print(f"\ncost against weave_share, 100 queries, S_max 1K, O_max 10K, mean (largest) of {seeds} draws")
    names = ("no_share", "shared", "tri_weave", "factor_windows", "cascade")
    print(f"{'technique':<20}{'lambda':>8}" + "".join(f"{name:>18}" for name in names))
    for technique in ("flat_fit", "slick_deque_noninv"):
        for rate in (1.0, 10.0, 100.0):
            ratios: dict[str, list[float]] = {name: [] for name in names}
            for seed in range(seeds):
                load = factors(100, seed, 1000, 10_000)
                woven = optimize((load.range, load.slide), rate, "weave_share", technique).cost
                for name in names:
                    cost = optimize((load.range, load.slide), rate, name, technique).cost
                    ratios[name].append(cost / woven)
            cells = (f"{mean(found):.3f} ({max(found):.3f})" for found in ratios.values())
            print(f"{technique:<20}{rate:>8g}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


if __name__ == "__main__":
    planning(int(sys.argv[1]) if len(sys.argv) > 1 else MILLION)
    cascades()
