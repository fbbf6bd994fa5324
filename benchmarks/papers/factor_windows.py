"""Factor windows (ICDE 2022), tables I and III and figure 12: boosts that the cost model predicts, and planning time.

The boost is the cost of computing every window from raw events over the cost of the graph, by the paper's own model.
Factors that only some of the windows have in common are Heddle's own: a third line. The boosts that rewritten
statements reach on Spark are printed by benchmarks/rewriting.py.
"""

from __future__ import annotations

from statistics import mean
from time import process_time

from benchmarks.evidence.figure import ENOUGH, Figure, Points, Progress, Reading, Size, load_claims
from optimizer.strategies.contract.problem import Watch
from optimizer.strategies.factor_windows import (
    cheapest_graph,
    covered_by,
    graph_cost,
    partitioned_by,
    period,
    with_common_factors,
    with_factors,
)
from optimizer.windows.window import Window
from optimizer.workloads.generators import random_gen, sequential_gen

TITLE = "Factor windows (ICDE 2022)"
SOME_MORE = 1.05  # times: where common factors are worth a word
GENERATORS = {"randomgen": random_gen, "sequentialgen": sequential_gen}
NOTE = (
    "Boosts are those that the paper's cost model predicts for its algorithms, {} sets of each size; the paper's are "
    "throughputs that it measured in Trill, and it prints no predictions. `With common ones` takes in factors that "
    "some of the windows have in common, which the paper leaves to future work (footnote 3)."
)


def boosts(windows: list[Window], hopping: bool) -> tuple[float, float, float, float]:
    """Return the predicted boost without and with factor windows and with common ones, and the CPU ms of planning.

    >>> without, with_them, with_more, _ = boosts([Window(20, 20), Window(30, 30), Window(40, 40)], hopping=False)
    >>> round(without, 2), round(with_them, 2), round(with_more, 2)
    (1.46, 2.4, 2.4)
    """
    relation = covered_by if hopping else partitioned_by
    ticks = period(windows)
    original = graph_cost(dict.fromkeys(windows), ticks)
    without = graph_cost(cheapest_graph(windows, relation), ticks)
    started = process_time()
    graph = with_factors(windows, relation, Watch())
    more = with_common_factors(graph, relation, ticks, Watch())
    took = 1_000 * (process_time() - started)
    costs = (without, graph_cost(graph, ticks), graph_cost(more, ticks))
    of_none, of_paper, of_common = (float(original / cost) for cost in costs)
    return of_none, of_paper, of_common, took


def reason(share: float, value: float, further: float) -> str:
    """Return why a boost is not the paper's: `share` of it, and what common factors make of it.

    >>> reason(0.5, 1.45, 3.23)
    'with factors that some of the windows have in common, 3.23 times'
    >>> reason(1.0, 1.2, 1.3)
    ''
    """
    if share < ENOUGH and further > value * SOME_MORE:
        return f"with factors that some of the windows have in common, {further:.3g} times"
    if share < ENOUGH:
        return "the model prices an event like a sub-aggregate; in a system that reads events it is dearer"
    return "the model counts an event again for every window that holds it" if share > 1 / ENOUGH else ""


def measure(size: Size, progress: Progress) -> list[Figure]:
    """Return a figure for tumbling and one for hopping windows, and planning time by number of windows."""
    counts, draws = size.of((5,), (5, 10, 15, 20), (5, 10, 15, 20)), size.of(2, 10, 10)
    times: Points = {}
    figures = []
    for kind in ("tumbling", "hopping"):
        points: Points = {}
        readings = []
        for name, generate in GENERATORS.items():
            progress(f"{kind} windows of {name}")
            for count in counts:
                sets = [generate(count, seed, hopping=kind == "hopping").windows() for seed in range(draws)]
                without, with_them, more, took = zip(
                    *(boosts(windows, kind == "hopping") for windows in sets), strict=True
                )
                for label, values in (("without", without), ("with", with_them)):
                    points.setdefault(f"{name}, {label}", []).append((count, mean(values)))
                    further = more if label == "with" else values
                    for which, of_all in (("mean", mean), ("most", max)):
                        key, value = f"{name}_{count}_{kind}_{label}_{which}", of_all(values)
                        claim = load_claims()[key]
                        why = reason(value / claim.value, value, of_all(further))
                        readings.append(Reading(key, value, why, (count, claim.value) if which == "mean" else None))
                points.setdefault(f"{name}, with common ones", []).append((count, mean(more)))
                times.setdefault(f"{name}, {kind}", []).append((count, mean(took)))
        title = f"Tables I and III: boosts by factor windows, {kind} windows"
        axes = ("windows", "cost / cost of the graph")
        note = NOTE.format(draws)
        figures.append(Figure(f"icde-{kind}", title, *axes, points, readings, log_x=False, log_y=False, note=note))
    slowest = max(took for line in times.values() for _, took in line)
    readings = [Reading("factor_planning", slowest)]
    title = "Figure 12: planning time with factor windows"
    return [*figures, Figure("icde-12", title, "windows", "CPU milliseconds", times, readings, log_x=False)]
