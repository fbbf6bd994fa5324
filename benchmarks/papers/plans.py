"""Incremental evaluation (TKDE 2022), experiments 1 to 5 and figure 16: what plans cost by technique and strategy."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from statistics import mean
from time import process_time

from benchmarks.evidence.figure import Figure, Points, Progress, Reading, Size, ratio
from benchmarks.papers.side_by_side import run_side_by_side
from optimizer import optimize
from optimizer.plan.definition import Plan
from optimizer.strategies.contract.problem import SearchOptions
from optimizer.windows.counters import COUNTERS
from optimizer.windows.edges import divisors
from optimizer.workloads.generators import factors

TITLE = "Plans by technique and strategy (TKDE 2022)"
TECHNIQUES = {
    "Panes": "panes",
    "FlatFAT": "flat_fat",
    "FlatFIT": "flat_fit",
    "SlickDeque (Inv)": "slick_deque_inv",
    "SlickDeque (Non-Inv)": "slick_deque_noninv",
}
BEST = "SlickDeque (Non-Inv)"
BEST_TECHNIQUE = TECHNIQUES[BEST]
MOVES = "after the greedy loop, Weave Share here moves classes and merges trees while the cost falls"
STRATEGIES = {"WeaveShare": "weave_share", "TriWeave": "tri_weave", "cascade": "cascade"}


@dataclass(frozen=True)
class Setting:
    """The parameters of an experiment; the defaults are the paper's middle point."""

    queries: int = 100
    s_max: int = 1_000
    o_max: int = 10_000
    rate: float = 1.0
    z_skew: float = 0.0

    def plan(self, strategy: str, technique: str, seed: int, options: SearchOptions | None = None) -> Plan:
        """Plan one draw of the workload."""
        drawn = factors(self.queries, seed, self.s_max, self.o_max, z_skew=self.z_skew)
        windows = (drawn.range, drawn.slide)
        return optimize(windows, self.rate, strategy, technique, options=options or SearchOptions())


@dataclass(frozen=True)
class Experiment:
    """One parameter varied, with the figure that shows it and the claim on its largest gain."""

    number: int
    varied: str
    label: str
    values: tuple[float, ...]
    claim: str


EXPERIMENTS = (
    Experiment(17, "queries", "queries", (1, 10, 100, 1_000, 10_000), "queries_panes"),
    Experiment(18, "s_max", "longest slide", (10, 100, 1_000, 10_000, 100_000), "slides_panes"),
    Experiment(19, "o_max", "largest overlap factor", (100, 1_000, 10_000, 100_000, 1_000_000), "overlap_panes"),
    Experiment(20, "rate", "events per tick", (0.01, 0.1, 1.0, 10.0, 100.0), "rate_panes"),
    Experiment(21, "z_skew", "skew of slides", (-1.0, -0.5, 0.0, 0.5, 1.0), "skew_panes"),
)


def measure(size: Size, progress: Progress) -> list[Figure]:
    """Return figures 17 to 21 for every strategy, the table of trees, and figure 16."""
    draws = size.of(1, 10, 10)
    tasks = {
        f"figure {experiment.number}, {experiment.label}, {draws} draws": (
            plan_costs,
            (experiment, experiment.values[1:4:2] if size.small else experiment.values, draws),
        )
        for experiment in EXPERIMENTS
    }
    progress("costs and trees of plans")
    figures, trees, apart = [], defaultdict(list), []
    for experiment, (costs, counts) in zip(EXPERIMENTS, run_side_by_side(tasks, progress), strict=True):
        apart += [
            abs(gap - 1) for name in TECHNIQUES for _, gap in ratio(costs["TriWeave"][name], costs["WeaveShare"][name])
        ]
        figures += [cost_figure(experiment, strategy, costs[strategy]) for strategy in STRATEGIES]
        for name, some in counts.items():
            trees[name] += some
    return [*figures, trees_figure(trees, mean(apart)), counters_figure(size, progress)]


def plan_costs(
    experiment: Experiment, values: tuple[float, ...], draws: int
) -> tuple[dict[str, Points], dict[str, list[int]]]:
    """Return mean costs by strategy, technique and value, and by technique how many trees WeaveShare plans have."""
    costs: dict[str, Points] = {strategy: {name: [] for name in TECHNIQUES} for strategy in STRATEGIES}
    trees: dict[str, list[int]] = {name: [] for name in TECHNIQUES}
    for value in values:
        whole = experiment.varied in {"queries", "s_max", "o_max"}
        setting = replace(Setting(), **{experiment.varied: int(value) if whole else value})
        for label, strategy in STRATEGIES.items():
            for name, technique in TECHNIQUES.items():
                plans = [setting.plan(strategy, technique, seed) for seed in range(draws)]
                costs[label][name].append((value, mean(plan.cost for plan in plans)))
                if label == "WeaveShare":
                    trees[name] += [len(plan.trees) for plan in plans]
    return costs, trees


def cost_figure(experiment: Experiment, strategy: str, costs: Points) -> Figure:
    """Return one panel: operations per tick by technique, with the largest gain over panes."""
    readings = []
    if strategy == "WeaveShare":
        pairs = [pair for name in (BEST, "SlickDeque (Inv)") for pair in ratio(costs["Panes"], costs[name])]
        place, gain = max(pairs, key=lambda pair: pair[1])
        readings.append(Reading(experiment.claim, gain, f"mean costs, with {place:g} as {experiment.label}"))
        if experiment.varied == "queries":
            place, gain = max(ratio(costs["FlatFIT"], costs[BEST]), key=lambda pair: pair[1])
            readings.append(Reading("queries_flat_fit", gain, f"mean costs, with {place:g} as {experiment.label}"))
    return Figure(
        f"tkde-{experiment.number}-{strategy.lower()}",
        f"Figure {experiment.number}: cost by {experiment.label}, {strategy}",
        experiment.label,
        "operations per tick",
        costs,
        readings,
        log_x=experiment.varied != "z_skew",
    )


def trees_figure(trees: dict[str, list[int]], apart: float) -> Figure:
    """Return how many trees plans have, by technique, over all experiments."""
    means = {name: mean(counts) for name, counts in trees.items()}
    readings = [
        Reading("trees_panes", means["Panes"]),
        Reading("trees_flat_fat", means["FlatFAT"], MOVES),
        Reading("trees_flat_fit", means["FlatFIT"], MOVES),
        Reading("trees_slick_deque", means[BEST], f"Non-Inv; {means['SlickDeque (Inv)']:.1f} by Inv; {MOVES}"),
        Reading(
            "tri_weave_apart", apart, "the partials of the union cost what they save: both end with the same trees"
        ),
    ]
    points = {name: [(0.0, value)] for name, value in means.items()}
    title = "Trees of WeaveShare plans, mean over experiments 1 to 5"
    return Figure("tkde-trees", title, "all settings", "trees", points, readings, log_x=False, log_y=False)


def counters_figure(size: Size, progress: Progress) -> Figure:
    """Return the seconds of planning by counter of edges, up to a million queries, and of counting one union."""
    many = (10, 100, 550, 1_000, 10_000, 100_000, 1_000_000)
    sizes = many[:2] if size.small else many
    points: Points = {}
    for counter in ("bit_set", "f1", "auto"):
        progress(f"figure 16: planning {sizes[0]:,} to {sizes[-1]:,} queries by {counter}")
        points[counter] = []
        for queries in sizes:
            started = process_time()
            Setting(queries).plan("weave_share", BEST_TECHNIQUE, 1, SearchOptions(edges=counter))
            points[counter].append((queries, process_time() - started))
    gain = union_seconds("bit_set") / union_seconds("divisor_mask")
    why = "queries with equal edges are one class before the search, so a counter sees classes, not queries"
    readings = [
        Reading("f1_most_queries", sizes[-1], why),
        Reading("bit_set_most_queries", sizes[-1], why),
        Reading("f1_speed_up", gain, "one union of 15 slides, by divisor masks against a bit set"),
    ]
    note = "Planning by WeaveShare. `auto` is Heddle's own choice: masks over divisors, or a recursion over primes."
    title = "Figure 16: planning time by counter of edges"
    return Figure("tkde-16", title, "queries", "CPU seconds", points, readings, note=note)


def union_seconds(counter: str, slides: int = 15, length: int = 1_000_000, times: int = 5) -> float:
    """Return the CPU seconds of counting the edges of one union of slides, the least of some calls."""
    edges = tuple((slide, 0) for slide in sorted(divisors(length)[-slides - 1 : -1]))
    seconds = []
    for _ in range(times):
        started = process_time()
        COUNTERS[counter].rate(edges)
        seconds.append(process_time() - started)
    return min(seconds)
