"""On-the-fly sharing (SIGMOD 2006), figures 13 to 16: shared against unshared, pairs against panes."""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path
from statistics import mean

from benchmarks import sharing
from benchmarks.evidence.figure import Figure, Points, Progress, Reading, Size
from benchmarks.sharing import UNSHARED, Spent
from jobs.generate.draws import Options

TITLE = "Sharing slices and shards (SIGMOD 2006)"
FIGURES = {"trades_a": 13, "trades_b": 14, "trades_c": 15, "trades_c_low": 16}
NAMES = {"trades_a": "A", "trades_b": "B", "trades_c": "C, regular", "trades_c_low": "C, low-sharing"}
RATE = 375.0  # trades a second, as the paper reports of its day
PAIRED, PANED = "shared, paired", "shared, paned"
WAYS = (UNSHARED, PAIRED, PANED)
TIMES = 3  # of a shared plan: one run of a few hundredths of a second says little
NOTE = (
    "{:,} trades, {} draws. Unshared is every query evaluated by itself by this same engine, once; shared, the middle "
    "one of {} runs. The ratios are those of the most queries."
)
COUNTED = "{:.3g} times by aggregations; unshared, each query also reads the files"
FEW_FINALS = (
    "the paper's final folds every slice of its window, and panes are more slices; here a final folds few: "
    "{:.3g} times by aggregations"
)


def measure(size: Size, progress: Progress) -> list[Figure]:
    """Return two figures for every workload: CPU seconds and aggregations by number of queries."""
    events, counts = size.of(20_000, 2_000_000, 8_800_000), size.of((4, 8), (16, 64, 256), (16, 32, 64, 128, 256))
    draws = size.of(1, 2, 10)
    figures = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sharing.write_market(folder / "data", Options(events, seed=1, rate=RATE, keys=10))
        for name, number in FIGURES.items():
            seconds: Points = {way: [] for way in WAYS}
            counted: Points = {way: [] for way in WAYS}
            for queries in counts:
                progress(f"figure {number}: workload {NAMES[name]}, {queries} queries, {draws} draws")
                drawn = [spend(folder, name, queries, events, seed) for seed in range(1, draws + 1)]
                for way in WAYS:
                    seconds[way].append((queries, mean(spent[way].seconds for spent in drawn)))
                    counted[way].append((queries, mean(spent[way].aggregations for spent in drawn)))
            title, note = f"Figure {number}: workload {NAMES[name]}", NOTE.format(events, draws, TIMES)
            readings = ratios(name, seconds, counted)
            figures += [
                Figure(f"sigmod-{number}", title, "queries", "CPU seconds", seconds, readings, note=note),
                Figure(f"sigmod-{number}-counted", f"{title}, counted", "queries", "aggregations", counted),
            ]
    return figures


def spend(folder: Path, name: str, queries: int, events: int, seed: int) -> dict[str, Spent]:
    """Return what a draw takes, by way."""
    catalog = sharing.market_catalog(folder, name, queries, folder / "data", seed)
    with contextlib.redirect_stdout(io.StringIO()):
        return sharing.measure(catalog, folder / "data", RATE, events, TIMES, "weave_share,tri_weave")


def ratios(name: str, seconds: Points, counted: Points) -> list[Reading]:
    """Return what the paper reports of a workload, as ratios of ours at the most queries."""

    def ratio(points: Points, above: str, below: str) -> float:
        return points[above][-1][1] / points[below][-1][1]

    sharing_counts = ratio(counted, UNSHARED, PAIRED)
    readings = [Reading(f"{name}_seconds", ratio(seconds, UNSHARED, PAIRED), COUNTED.format(sharing_counts))]
    if name in {"trades_a", "trades_b"}:
        readings.append(Reading(f"{name}_aggregations", sharing_counts))
    if name == "trades_a":
        why = FEW_FINALS.format(ratio(counted, PANED, PAIRED))
        readings.append(Reading("trades_a_panes", ratio(seconds, PANED, PAIRED), why))
    return readings
