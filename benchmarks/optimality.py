"""How far every strategy is from the best plan there is: `python -m benchmarks.optimality [--draws 10]`.

In the papers' operations the best cascade of up to 16 classes of equal edges is found exactly, by dynamic programming.
In seconds all partitions of up to 7 classes are tried, each with the feeds that suit it best. Printed per strategy: the
mean and the largest gap over some draws, and how often there is none. Bound: the default strategy within 1%.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from statistics import mean

import numpy as np

from benchmarks.evidence.figure import Figure, Progress, Size
from benchmarks.papers.side_by_side import run_side_by_side
from benchmarks.planning import PRICES, RATE, TECHNIQUE, irregular
from benchmarks.verdict import Bound, print_verdict
from optimizer import optimize
from optimizer.plan.definition import Traffic
from optimizer.planning.choices import STRATEGY
from optimizer.planning.draft_group import Group, build_trees, cost_model, stream_seconds
from optimizer.strategies import STRATEGIES
from optimizer.strategies.cascade import exact
from optimizer.strategies.contract.problem import make_problem
from optimizer.strategies.contract.units import Pricing, Units
from optimizer.strategies.search.feeds import Cascades, add_helpers, as_draft
from optimizer.windows.window import Ids, WindowSet
from optimizer.workloads import Workload
from optimizer.workloads.generators import factors

TITLE = "Optimality"
FEW, MANY = 7, 16
NAMES = [name for name in STRATEGIES if name != "exhaustive"]
TRAFFIC = Traffic(RATE)
Draw = Callable[[int], Workload]


def workloads(most: int) -> dict[str, Draw]:
    """Return draws of at most so many classes."""
    return {
        "factors": lambda seed: _few_slides(factors(40, seed, 240, 40), most),
        "irregular": lambda seed: irregular(most, seed),
    }


def _few_slides(workload: Workload, most: int) -> Workload:
    slides = np.unique(workload.slide)[:most]
    inside = np.isin(workload.slide, slides)
    return Workload(workload.range[inside], workload.slide[inside])


def group_of(workload: Workload) -> Group:
    """Return a workload as a group of queries."""
    windows = WindowSet(workload.range, workload.slide, np.zeros_like(workload.slide))
    return Group(make_problem(windows), Ids(np.arange(len(workload))), ())


def least_operations(workload: Workload) -> float:
    """Return what the best cascade of whole classes costs, exactly."""
    group = group_of(workload)
    units = Units.classes(group.rows.problem)
    pricing = Pricing(units, cost_model(group, TECHNIQUE, TRAFFIC))
    return Cascades(pricing).price(exact(pricing))


def least_seconds(workload: Workload) -> float:
    """Return what the best partition of the classes takes, with its best feeds."""
    group = group_of(workload)
    units = Units.classes(group.rows.problem)
    cascades = Cascades(Pricing(units, cost_model(group, TECHNIQUE, TRAFFIC, PRICES)))

    def seconds(forest: list[int]) -> float:
        draft = as_draft(add_helpers(cascades.feed(forest), cascades), units)
        return stream_seconds(build_trees(group, draft, TECHNIQUE, TRAFFIC, prices=PRICES), TRAFFIC, PRICES)

    return min(map(seconds, partitions(len(units))))


def partitions(units: int) -> Iterator[list[int]]:
    """Yield all ways to part units into trees, as masks.

    >>> list(partitions(2))
    [[3], [1, 2]]
    """
    if not units:
        yield []
        return
    last = 1 << (units - 1)
    for rest in partitions(units - 1):
        for place, tree in enumerate(rest):
            yield [*rest[:place], tree | last, *rest[place + 1 :]]
        yield [*rest, last]


def gaps_of(name: str, in_seconds: bool, seed: int) -> dict[str, float]:
    """Return by strategy how much its plan of one draw costs above the best one, as a share."""
    workload = workloads(FEW if in_seconds else MANY)[name](seed)
    best = least_seconds(workload) if in_seconds else least_operations(workload)
    gaps = {}
    for strategy in NAMES:
        prices = PRICES if in_seconds else None
        plan = optimize((workload.range, workload.slide), RATE, strategy, TECHNIQUE, prices=prices)
        cost = plan.costs.seconds if in_seconds else plan.cost
        gaps[strategy] = (cost or 0.0) / best - 1
    return gaps


def all_gaps(in_seconds: bool, draws: int, progress: Progress) -> dict[str, dict[str, list[float]]]:
    """Return by workload and strategy the gaps of some draws, counted side by side."""
    currency, names = "seconds" if in_seconds else "operations", list(workloads(MANY))
    tasks = {
        f"{name}, gaps in {currency}, draw {seed + 1} of {draws}": (gaps_of, (name, in_seconds, seed))
        for name in names
        for seed in range(draws)
    }
    drawn = run_side_by_side(tasks, progress)
    by_name = {name: drawn[draws * number : draws * (number + 1)] for number, name in enumerate(names)}
    return {name: {strategy: [gaps[strategy] for gaps in some] for strategy in NAMES} for name, some in by_name.items()}


def measure(size: Size, progress: Progress) -> list[Figure]:
    """Return a figure for both currencies: the mean gap of every strategy, draw by draw from the least to the most."""
    figures = []
    for currency in ("operations", "seconds"):
        in_seconds, points = currency == "seconds", {}
        draws = size.of(1, 6, 20) if in_seconds else size.of(2, 12, 50)
        lines = []
        for name, gaps in all_gaps(in_seconds, draws, progress).items():
            for strategy in (STRATEGY, "weave_share", "tri_weave", "shared", "no_share"):
                ordered = sorted(1 + max(0.0, gap) for gap in gaps[strategy])
                points[f"{strategy}, {name}"] = [(number, gap) for number, gap in enumerate(ordered, 1)]
            lines.append(f"{name}: {STRATEGY} is {mean(gaps[STRATEGY]):.2%} above, at most {max(gaps[STRATEGY]):.2%}")
        title = f"Cost above the best plan there is, in {currency}"
        classes = FEW if in_seconds else MANY
        note = f"The default strategy beside the best plan of up to {classes} classes. {'; '.join(lines)}."
        axes = ("draw, from the best", "cost / least cost")
        figures.append(Figure(f"optimality-{currency}", title, *axes, points, log_x=False, note=note))
    return figures


def show_gaps(currency: str, draws: int) -> float:
    """Print a table of gaps in one currency; return the largest of the default strategy."""
    largest = 0.0
    in_seconds = currency == "seconds"
    print(f"\nabove the best plan in {currency}, up to {FEW if in_seconds else MANY} classes, {draws} draws each")
    print(f"{'workload':<12}{'strategy':<26}{'mean':>9}{'largest':>9}{'none':>7}")
    for name, gaps in all_gaps(in_seconds, draws, lambda text: None).items():
        largest = max(largest, *gaps[STRATEGY])
        for strategy, gap in gaps.items():
            mark = " (the default)" if strategy == STRATEGY else ""
            none = sum(share < 1e-9 for share in gap)
            print(f"{name:<12}{strategy + mark:<26}{mean(gap):>9.2%}{max(gap):>9.2%}{none:>7}", flush=True)
    return largest


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The gap of every strategy to the best plan there is.")
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args()
    print_verdict(
        [
            Bound(f"largest gap of {STRATEGY} in {currency}", show_gaps(currency, options.draws), 0.01, ".2%")
            for currency in ("operations", "seconds")
        ]
    )
