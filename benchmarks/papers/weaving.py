"""Weave Share (CIKM 2011), figures 4 to 11 and 14: beside simpler plans, and as queries come and go.

Section 6 draws slides from 1 to 100,000 by Zipf's law "over a discrete range" of templates, and real overlap factors.
The templates are not printed. Factors of 100,000 in seconds give what figures 6 to 10 show; all whole numbers up to
100,000 do not: their edges are so few that one shared tree is best at almost every rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from random import Random
from statistics import mean
from time import process_time

from benchmarks.churn import change_once
from benchmarks.evidence.figure import Figure, Points, Progress, Reading, Size, load_claims
from benchmarks.papers.side_by_side import Task, run_side_by_side
from optimizer import optimize
from optimizer.plan.definition import Plan, Traffic
from optimizer.planning.running_plan import Member, RunningPlan
from optimizer.workloads import Workload
from optimizer.workloads.generators import factors
from tests.optimizer.strategies.literal import literal_greedy

TITLE = "Weave Share beside simpler plans (CIKM 2011)"
TECHNIQUE = "panes"  # a final reads every partial of its window, as in the paper
POLICIES = {
    "Weave Share": "weave_share",
    "Insert-then-Weave": "insert_then_weave",
    "Local Search": "local_search",
    "Shared": "shared",
    "Random": "random",
    "No Share": "no_share",
}
NOTE = (
    "Slides are factors of 100,000 seconds by Zipf's law, the large ones the most popular; overlap factors are any "
    "number up to the largest. The paper draws from templates between 1 and 100,000 and does not print them."
)
TWO_FIGURES = "figure 6 of the paper has 62% and figure 8 has 12% for the same rate, queries, overlap and skew"
WHOLE = "with whole overlap factors, every window cut at its slides alone, it is {:.0%}"
CHEAP = "on average the running plan is no dearer than one woven anew"
LONGEST_CHANGES = 120


def plan(queries: int, rate: float, strategy: str, seed: int, o_max: int = 50, skew: float = 0.6) -> Plan:
    """Plan one draw of the paper's workload."""
    return _plan(templates(queries, seed, o_max, skew), rate, strategy)


def templates(queries: int, seed: int, o_max: int = 50, skew: float = 0.6, whole: bool = False) -> Workload:
    """Draw the paper's workload, with real overlap factors or with whole ones."""
    return factors(queries, seed, s_max=100_000, o_max=o_max, z_skew=skew, residues=not whole)


def _plan(drawn: Workload, rate: float, strategy: str = "weave_share") -> Plan:
    return optimize((drawn.range, drawn.slide), rate, strategy, TECHNIQUE)


def share_of_shared(
    queries: int, rate: float, draws: int, o_max: int = 50, skew: float = 0.6, whole: bool = False
) -> float:
    """Return the cost of Weave Share over the cost of one shared tree, mean over some draws."""
    plans = [_plan(templates(queries, seed, o_max, skew, whole), rate) for seed in range(draws)]
    return mean(each.cost / each.baselines["shared"] for each in plans)


def largest_gain(some: Plan, queries: int, rate: float) -> float:
    """Return how many times cheaper than one shared tree any plan of Equation 3 can be.

    A plan takes every event once, and a tree has at least the edges of each of its queries: no plan costs less than
    the rate plus what all finals cost unshared.
    """
    finals = some.baselines["no_share"] - queries * rate
    return some.baselines["shared"] / (rate + finals)


def measure(size: Size, progress: Progress) -> list[Figure]:
    """Return the figures in the paper's order."""
    draws = size.of(1, 10, 10)
    policies = size.of((20, 50), (50, 250, 1_000), (50, 250, 500, 1_000))
    counts = size.of((20, 50), (50, 100, 250, 500, 1_000), (50, 100, 250, 500, 1_000, 2_000))
    tasks: dict[str, Task[list[Figure]]] = {
        "figure 4, low rate": (policies_figure, (4, 50.0, "low_rate_orders", policies, draws)),
        "figure 5, medium rate": (policies_figure, (5, 300.0, "medium_rate_orders", policies, draws)),
        "figures 6 and 7, normalised cost and trees": (counts_figures, (counts, draws)),
        "figure 8, input rate": (rates_figure, (size.of((50,), (250, 1_000, 2_000), (250, 1_000, 2_000)), draws)),
        "figure 9, overlap factor": (overlaps_figure, (size.of(50, 2_000, 2_000), draws)),
        "figure 10, skew of slides": (skews_figure, (size.of((20,), (100, 500), (100, 500, 1_000)), draws)),
        "figure 11, incremental weaving": (tolerances_figure, (size.of(20, 100, 250),)),
    }
    progress("costs of plans")
    figures = [figure for some in run_side_by_side(tasks, progress) for figure in some]
    progress("figure 14: planning with and without optimizations")
    return [*figures, optimizations_figure(size.of(8, 250, 250))]


def saving(key: str, x: float, share: float, why: str = "") -> Reading:
    """Return what a plan saves against one shared tree, and where the paper's saving is among the shares."""
    return Reading(key, 1 - share, why, (x, 1 - load_claims()[key].value))


def policies_figure(number: int, rate: float, claim: str, counts: Sequence[int], draws: int) -> list[Figure]:
    """Return figure 4 or 5: cost by number of queries and policy."""
    points: Points = {
        label: [(n, mean(plan(n, rate, strategy, seed).cost for seed in range(draws))) for n in counts]
        for label, strategy in POLICIES.items()
    }
    most = counts[-1]
    woven, shared = (dict(points[name])[most] for name in ("Weave Share", "Shared"))
    bound = mean(largest_gain(plan(most, rate, "shared", seed), most, rate) for seed in range(draws))
    title = f"Figure {number}: cost by number of queries, {rate:g} events a second"
    why = (
        f"against Shared; no plan of the paper's Equation 3 can gain more than {bound:.1f} times here: none costs less "
        "than the rate and every query's own finals"
    )
    readings = [Reading(claim, shared / woven, why)]
    return [Figure(f"cikm-{number}", title, "queries", "operations per second", points, readings, note=NOTE)]


def counts_figures(counts: Sequence[int], draws: int) -> list[Figure]:
    """Return figure 6, the cost over that of one shared tree, and figure 7, the trees."""
    costs: Points = {}
    trees: Points = {}
    for rate in (50.0, 300.0, 10_000.0):
        plans = {n: [plan(n, rate, "weave_share", seed) for seed in range(draws)] for n in counts}
        name = f"{rate:,.0f} events a second"
        costs[name] = [(n, mean(each.cost / each.baselines["shared"] for each in drawn)) for n, drawn in plans.items()]
        trees[name] = [(n, mean(len(each.trees) for each in drawn)) for n, drawn in plans.items()]
    readings = [saving("high_rate_saving", 1_000, dict(costs["10,000 events a second"]).get(1_000, 1.0), TWO_FIGURES)]
    return [
        Figure(
            "cikm-6",
            "Figure 6: Weave Share over one shared tree",
            "queries",
            "cost / shared",
            costs,
            readings,
            log_y=False,
        ),
        Figure("cikm-7", "Figure 7: trees of Weave Share plans", "queries", "trees", trees, log_y=False),
    ]


def rates_figure(counts: Sequence[int], draws: int) -> list[Figure]:
    """Return figure 8: the cost over that of one shared tree by input rate."""
    rates = (0.5, 5.0, 50.0, 500.0, 2_000.0, 3_000.0, 10_000.0)
    points: Points = {f"{n:,} queries": [(rate, share_of_shared(n, rate, draws)) for rate in rates] for n in counts}
    readings = []
    for key, queries, rate in (
        ("rate_saving_50", 250, 50.0),
        ("rate_saving_2000", 250, 2_000.0),
        ("rate_saving_3000", 250, 3_000.0),
        ("rate_saving_1000_queries", 1_000, 10_000.0),
        ("rate_saving_2000_queries", 2_000, 10_000.0),
    ):
        if queries in counts:
            why = TWO_FIGURES if queries == 1_000 else ""
            readings.append(saving(key, rate, dict(points[f"{queries:,} queries"])[rate], why))
    title = "Figure 8: Weave Share over one shared tree by input rate"
    return [Figure("cikm-8", title, "events a second", "cost / shared", points, readings, log_y=False)]


def overlaps_figure(queries: int, draws: int) -> list[Figure]:
    """Return figure 9: the cost over that of one shared tree by the largest overlap factor."""
    overlaps, highest = (50, 200, 500, 1_000, 2_000), 100_000.0
    points: Points = {
        f"{rate:,.0f} events a second": [(o, share_of_shared(queries, rate, draws, o)) for o in overlaps]
        for rate in (100.0, 1_000.0, 10_000.0, highest, 1_000_000.0)
    }
    whole = [(o, share_of_shared(queries, highest, draws, o, whole=True)) for o in overlaps]
    at, at_whole = dict(points[f"{highest:,.0f} events a second"]), dict(whole)
    points[f"{highest:,.0f}, whole overlap factors"] = whole
    readings = [
        saving(key, o, at[o], WHOLE.format(1 - at_whole[o]))
        for key, o in (("overlap_saving_200", 200), ("overlap_saving_2000", 2_000))
    ]
    title = "Figure 9: Weave Share over one shared tree by overlap factor"
    return [Figure("cikm-9", title, "largest overlap factor", "cost / shared", points, readings, log_y=False)]


def skews_figure(counts: Sequence[int], draws: int) -> list[Figure]:
    """Return figure 10: the cost over that of one shared tree by skew, at 100 events a second and overlaps up to 10."""
    skews = (0.0, 0.6, 1.2, 1.8, 2.4, 3.3)
    points: Points = {
        f"{n:,} queries": [(skew, share_of_shared(n, 100.0, draws, 10, skew)) for skew in skews] for n in counts
    }
    title = "Figure 10: Weave Share over one shared tree by skew of slides"
    return [Figure("cikm-10", title, "skew", "cost / shared", points, log_x=False, log_y=False)]


def tolerances_figure(queries: int) -> list[Figure]:
    """Return figure 11: how far a plan that follows its queries strays from an offline build, by tolerance."""
    points: Points = {}
    most = 0.0
    changes = min(LONGEST_CHANGES, queries)
    for tolerance in (0.05, 0.1, 0.2, 0.3, inf):
        windows, rng = templates(2 * queries, 1).windows(), Random(7)
        running = RunningPlan(Traffic(50.0), TECHNIQUE, strategy="weave_share", tolerance=tolerance)
        running.adopt([{f"q{number}": Member(window)} for number, window in enumerate(windows[:queries])])
        running.rebuild()
        running.rebuilds = tolerance < inf
        deviations, rebuilt = [], 0
        for number in range(changes):
            change_once(running, windows, rng, number, queries // 2)
            rebuilt += running.drift.changes == 0
            deviations.append(running.exact_deviation())
        name = "no rebuilding" if tolerance == inf else f"tolerance {tolerance:.0%}"
        points[name] = [(rebuilt, mean(deviations))]
        if tolerance < inf:
            most = max(most, mean(deviations) / tolerance)
    note = (
        f"{changes} queries of {queries} come or go, one after the other. The error is how much dearer the running "
        "plan is than one woven anew: 0.01 is 1%, below 0 is cheaper."
    )
    return [
        Figure(
            "cikm-11",
            "Figure 11: incremental Weave Share by tolerance",
            "times that the plan was rebuilt",
            "mean relative error",
            points,
            [Reading("error_within_tolerance", most, CHEAP if most <= 0 else "")],
            log_x=False,
            log_y=False,
            joined=False,
            note=note,
        )
    ]


def optimizations_figure(queries: int) -> Figure:
    """Return figure 14: the paper's greedy without any optimization beside Heddle, for the same queries."""
    windows = factors(queries, 1, s_max=1_000, o_max=10, z_skew=0.7).windows()
    started = process_time()
    literal_greedy(windows, 100.0, TECHNIQUE)
    literal = process_time() - started
    started = process_time()
    optimize(windows, 100.0, "weave_share", TECHNIQUE)
    ours = process_time() - started
    points: Points = {"literal": [(queries, literal)], "Heddle": [(queries, ours)]}
    readings = [
        Reading(
            "optimizations",
            literal / ours,
            f"{queries} queries; slides are factors of 1,000, so that the literal one can mark its edges",
        )
    ]
    note = "`literal` is the greedy loop as the paper prints it, edges merged for every pair in every round."
    return Figure("cikm-14", "Figure 14: planning time", "queries", "CPU seconds", points, readings, note=note)
