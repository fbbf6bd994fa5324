"""Factor windows (ICDE 2022), tables I and III and figure 19: boosts of rewritten statements, measured on Spark.

The boost is the CPU of the originals over the CPU of the rewritten statements, by the whole process tree. Beside it
stands what the cost model predicts for the same windows, and how both go together.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import correlation, mean

from benchmarks.evidence.figure import Figure, Points, Progress, Reading, Size
from benchmarks.papers.factor_windows import GENERATORS, boosts
from benchmarks.rewriting import both, write_events
from jobs.spark.session import spark_session
from optimizer.catalog.read.load import load_catalog
from optimizer.workloads.workload import write_catalog

TITLE = "Rewritten statements on Spark (ICDE 2022)"
STRATEGY = "factor_windows"
SPARK = "CPU of plain Spark in batches; the paper measures throughput of a stream in Trill"
PER_STATEMENT = (
    "a Spark statement costs as much over few rows as over none, which the model does not know, and maxima only are "
    "measured"
)


def measure(size: Size, progress: Progress) -> list[Figure]:
    """Return the boosts of tumbling and of hopping windows, and predicted against measured ones."""
    counts, sets = size.of((5,), (5, 10), (5, 10, 15, 20)), size.of(1, 2, 10)
    events, times = size.of(20_000, 2_000_000, 10_000_000), 1
    spark = spark_session("local[2]")
    figures, pairs = [], {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_events(folder / "data", events)
        for kind in ("tumbling", "hopping"):
            points: Points = {}
            readings = []
            for generator, generate in GENERATORS.items():
                label = f"{generator}, {kind}"
                pairs[label] = []
                for count in counts:
                    progress(f"{count} {kind} windows of {generator}, {sets} sets")
                    for seed in range(sets):
                        drawn = generate(count, seed, hopping=kind == "hopping")
                        place = folder / f"{label}-{count}-{seed}"
                        write_catalog(drawn, place, str(folder / "data"))
                        before, after = both(spark, load_catalog(place), STRATEGY, times)
                        *_, predicted, _ = boosts(drawn.windows(), kind == "hopping")
                        pairs[label].append((predicted, before / after))
                    measured = [boost for _, boost in pairs[label][-sets:]]
                    points.setdefault(generator, []).append((count, mean(measured)))
                    key = f"{generator}_{count}_{kind}_with"
                    readings += [
                        Reading(f"{key}_mean", mean(measured), SPARK),
                        Reading(f"{key}_most", max(measured), SPARK),
                    ]
            title = f"Tables I and III on Spark: boosts by rewriting, {kind} windows"
            note = (
                f"{events:,} events, {sets} sets of each size; CPU seconds of the process tree, warm, both in one run."
            )
            axes = ("windows", "CPU of originals / CPU of rewritten")
            figures.append(
                Figure(f"icde-spark-{kind}", title, *axes, points, readings, log_x=False, log_y=False, note=note)
            )
    return [*figures, correlation_figure(pairs)]


def correlation_figure(pairs: dict[str, list[tuple[float, float]]]) -> Figure:
    """Return figure 19: measured boosts by predicted ones."""
    every = [pair for some in pairs.values() for pair in some]
    together = correlation(*zip(*every, strict=True))
    points = {label: sorted(some) for label, some in pairs.items()}
    title = "Figure 19: predicted and measured boost"
    axes = ("boost predicted by the cost model", "boost measured on Spark")
    reading = Reading("boost_correlation", together, PER_STATEMENT)
    return Figure("icde-19", title, *axes, points, [reading], log_x=False, log_y=False, joined=False)
