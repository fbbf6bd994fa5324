"""Factor windows (ICDE 2022), tables I and III and figure 19: boosts of rewritten statements, measured on Spark.

The setup is the paper's: minima, one event a tick, and every window of a graph reads the answers of its parent. The
graphs are those of the paper's algorithms, without and with factor windows; beside them stands Heddle's own rewriting.
Every answer of every rewriting is compared with that of the original statement.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import correlation, mean

from pyspark.sql import SparkSession

from benchmarks.evidence.figure import Figure, Points, Progress, Reading, Size, load_claims
from benchmarks.papers.factor_windows import GENERATORS
from benchmarks.rewriting import run_script, write_events
from jobs.host.machine import CpuMeter
from jobs.spark.session import spark_session
from optimizer.catalog.read.load import load_catalog
from optimizer.planning.stream import plan_stream
from optimizer.rewrite import answer_types, rewrite
from optimizer.strategies.contract.problem import Watch
from optimizer.strategies.factor_windows import (
    Graph,
    cheapest_graph,
    covered_by,
    graph_cost,
    partitioned_by,
    period,
    with_factors,
)
from optimizer.windows.window import Window
from optimizer.workloads import Workload
from optimizer.workloads.workload import Shape, write_catalog

TITLE = "Rewritten statements on Spark (ICDE 2022)"
STRATEGY, RATE, FEW_EVENTS = "factor_windows", 1, 200
WAYS = {"without factor windows": "without", "with factor windows": "with"}
OURS = "Heddle's rewriting"
Answer = tuple[int, int | None]  # how many rows, and what their hashes add up to by XOR


@dataclass(frozen=True)
class Spent:
    """One set of windows: CPU seconds by way, beside the costs of the graphs and the statements that they are."""

    seconds: dict[str, float]
    costs: dict[str, float]
    statements: dict[str, int]

    def boost(self, way: str) -> float:
        """Return how many times the CPU of a way the originals take."""
        return self.seconds["original"] / self.seconds[way]

    def gains(self, start: float) -> tuple[float, float]:
        """Return what factor windows save by the cost model, and measured less `start` for every statement."""
        plain, factored = WAYS
        above = {way: max(self.seconds[way] - start * self.statements[way], 1e-3) for way in WAYS}
        return self.costs[plain] / self.costs[factored], above[plain] / above[factored]


def measure(size: Size, progress: Progress) -> list[Figure]:
    """Return the boosts of tumbling and of hopping windows, and predicted against measured ones."""
    counts, sets = size.of((3,), (5, 10), (5, 10, 15, 20)), size.of(2, 3, 10)
    events = size.of(2_000, 3_000_000, 10_000_000)
    spark = spark_session("local[2]")
    figures, charts, start = [], {}, 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_events(folder / "few", FEW_EVENTS, RATE)
        write_events(folder / "data", events, RATE)
        for kind in ("tumbling", "hopping"):
            boosts: dict[str, dict[int, list[Spent]]] = {}
            for generator, generate in GENERATORS.items():
                first = generate(counts[0], 0, hopping=kind == "hopping")
                spend(spark, first, folder / "data", folder / f"{kind}-{generator}")  # warms up
                few = spend(spark, first, folder / "few", folder / f"{kind}-{generator}-few")
                start = max(start, few.seconds["original"] / few.statements["original"])
                boosts[generator] = {}
                for count in counts:
                    progress(f"{count} {kind} windows of {generator}, {sets} sets")
                    boosts[generator][count] = [
                        spend(
                            spark,
                            generate(count, seed, hopping=kind == "hopping"),
                            folder / "data",
                            folder / f"{kind}-{generator}-{count}-{seed}",
                        )
                        for seed in range(sets)
                    ]
                charts[f"{generator}, {kind}"] = [each for some in boosts[generator].values() for each in some]
            figures.append(boosts_figure(kind, boosts, events, sets))
    return [*figures, correlation_figure(charts, start)]


def spend(spark: SparkSession, drawn: Workload, data: Path, place: Path) -> Spent:
    """Return what the originals and the rewritten statements of a set take; raise where their answers differ."""
    windows = drawn.windows()
    relation = partitioned_by if all(window.range == window.slide for window in windows) else covered_by
    graphs = {
        "original": dict.fromkeys(windows),
        "without factor windows": cheapest_graph(windows, relation),
        "with factor windows": with_factors(windows, relation, Watch()),
    }
    spark.read.parquet(str(data)).createOrReplaceTempView("events")
    seconds, answers = {}, {}
    for way, graph in graphs.items():
        with CpuMeter(poll_seconds=0.05) as meter:
            answers[way] = run_graph(spark, graph, windows)
        seconds[way] = meter.cpu_seconds
        if answers[way] != answers["original"]:
            raise AssertionError(f"{place.name}: the answers {way} are not those of the original statements")
    write_catalog(Workload(drawn.range, drawn.slide, (Shape("min(energy_1)"),)), place, str(data))
    catalog = load_catalog(place)
    plan = plan_stream(catalog, "sensors", RATE, STRATEGY, technique="auto")
    script = rewrite(catalog, plan, answer_types(catalog, "sensors"))
    with CpuMeter(poll_seconds=0.05) as meter:
        run_script(spark, script)
    seconds[OURS] = meter.cpu_seconds
    spark.catalog.clearCache()
    costs = {way: float(graph_cost(graph, period(windows))) for way, graph in graphs.items()}
    return Spent(seconds, costs, {way: len(graph) for way, graph in graphs.items()})


def run_graph(spark: SparkSession, graph: Graph, asked: list[Window]) -> dict[Window, Answer]:
    """Run the statements of a graph, parents first, and return what they answer; who is read is computed once."""
    answers: dict[Window, Answer] = {}
    for window in in_order(graph):
        name = view_of(window)
        spark.sql(statement(window, graph[window])).createOrReplaceTempView(name)
        if window in graph.values():
            spark.sql(f"CACHE TABLE {name}")
        if window in asked:
            (row,) = spark.sql(f"SELECT count(*), bit_xor(xxhash64(start, least)) FROM {name}").collect()
            answers[window] = (row[0], row[1])
    for window in graph:
        spark.catalog.dropTempView(view_of(window))
    spark.catalog.clearCache()
    return answers


def in_order(graph: Graph) -> list[Window]:
    """Return the windows of a graph, each after its parent.

    >>> in_order({Window(8, 8): Window(4, 4), Window(4, 4): None})
    [Window(range=4, slide=4, offset=0, rows=False), Window(range=8, slide=8, offset=0, rows=False)]
    """
    order: dict[Window, None] = {}

    def visit(window: Window) -> None:
        if (parent := graph[window]) is not None:
            visit(parent)
        order[window] = None

    for window in graph:
        visit(window)
    return list(order)


def view_of(window: Window) -> str:
    """Return the name of a window's answers."""
    return f"least_{window.range}_{window.slide}"


def statement(window: Window, parent: Window | None) -> str:
    """Return a window as SQL over the events, or over the answers of its parent that lie inside.

    An instance of W(8, 4) holds those of W(4, 2) that start in the first 6 of its 8 seconds.

    >>> statement(Window(8, 4), Window(4, 2)).partition("GROUP BY ")[2]
    "window(start, '6 seconds', '4 seconds')"
    """
    time, value, source, length = "ts", "energy_1", "events", window.range
    if parent is not None:
        time, value, source = "start", "least", view_of(parent)
        length = window.range - parent.range + parent.slide
    if length >= window.slide:
        clock = f"window({time}, '{length} seconds', '{window.slide} seconds')"
        return f"SELECT window.start, min({value}) AS least FROM {source} GROUP BY {clock}"
    clock = f"window({time}, '{window.slide} seconds')"  # answers of the parent that lie between two instances go
    return (
        f"SELECT clock.start, min({value}) AS least FROM (SELECT {clock} AS clock, {time}, {value} FROM {source}) "
        f"WHERE {time} < clock.start + INTERVAL '{length}' SECONDS GROUP BY clock"
    )


def boosts_figure(kind: str, spent: dict[str, dict[int, list[Spent]]], events: int, sets: int) -> Figure:
    """Return the boosts by number of windows, generator and way, beside the paper's."""
    points: Points = {}
    readings = []
    for generator, by_count in spent.items():
        for count, some in by_count.items():
            for way in (*WAYS, OURS):
                boosts = [each.boost(way) for each in some]
                points.setdefault(f"{generator}, {way}", []).append((count, mean(boosts)))
                if way in WAYS and f"{generator}_{count}_{kind}_{WAYS[way]}_mean" in load_claims():
                    key = f"{generator}_{count}_{kind}_{WAYS[way]}"
                    place = (float(count), load_claims()[f"{key}_mean"].value)
                    readings += [Reading(f"{key}_mean", mean(boosts), at=place), Reading(f"{key}_most", max(boosts))]
    title = f"Tables I and III on Spark: boosts by rewriting, {kind} windows"
    note = (
        f"Minima over {events:,} events, one a second, {sets} sets of each size; CPU seconds of the process tree. The "
        "paper measures the throughput of a stream in Trill, here Spark reads files: every statement is a job of its "
        "own, and what others read is cached. Answers are compared before."
    )
    axes = ("windows", "CPU of originals / CPU of rewritten")
    return Figure(f"icde-spark-{kind}", title, *axes, points, readings, log_x=False, log_y=False, note=note)


def correlation_figure(charts: dict[str, list[Spent]], start: float) -> Figure:
    """Return figure 19: what factor windows save, predicted and measured, and how both go together in each chart."""
    points = {label: sorted(each.gains(0.0) for each in some) for label, some in charts.items()}
    plain = {label: together(some, 0.0) for label, some in charts.items()}
    above = {label: together(some, start) for label, some in charts.items()}
    title = "Figure 19: predicted and measured gain by factor windows"
    axes = ("cost without / cost with factor windows", "CPU without / CPU with factor windows")
    said = ", ".join(f"{label} {value:.2f}" for label, value in plain.items())
    note = (
        f"Correlations: {said}. A statement over {FEW_EVENTS} events takes {start:.2f} CPU seconds; less that "
        f"for each statement, they are {', '.join(f'{value:.2f}' for value in above.values())}."
    )
    why = "in the least of four charts; a Spark statement costs something even over no rows, which the model leaves out"
    reading = Reading("boost_correlation", min(plain.values()), why)
    return Figure("icde-19", title, *axes, points, [reading], log_x=False, log_y=False, joined=False, note=note)


def together(some: list[Spent], start: float) -> float:
    """Return the correlation of predicted and measured gains, 0 where they do not vary."""
    predicted, measured = zip(*(each.gains(start) for each in some), strict=True)
    return correlation(predicted, measured) if min(len(set(predicted)), len(set(measured))) > 1 else 0.0
