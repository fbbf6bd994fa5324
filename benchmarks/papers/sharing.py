"""On-the-fly sharing (SIGMOD 2006), figures 13 to 16: shared against unshared, pairs against panes."""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path

from benchmarks import sharing
from benchmarks.evidence.figure import Figure, Points, Progress, Reading, Size
from jobs.generate.draws import Options

TITLE = "Sharing slices and shards (SIGMOD 2006)"
FIGURES = {"trades_a": 13, "trades_b": 14, "trades_c": 15, "trades_c_low": 16}
NAMES = {"trades_a": "A", "trades_b": "B", "trades_c": "C, regular", "trades_c_low": "C, low-sharing"}
RATE = 2_000.0

TIMES = 5  # of a shared plan: one run of a few hundredths of a second says little


def measure(size: Size, progress: Progress) -> list[Figure]:
    """Return a figure for every workload: CPU seconds by number of queries, shared and unshared, pairs and panes."""
    events, counts = size.of(20_000, 300_000, 2_000_000), size.of((4, 8), (16, 64, 256), (16, 32, 64, 128, 256))
    figures = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sharing.write_market(folder / "data", Options(events, seed=1, rate=RATE, keys=10))
        for name, number in FIGURES.items():
            seconds: Points = {}
            spent: dict[str, sharing.Spent] = {}
            for queries in counts:
                progress(f"figure {number}: workload {NAMES[name]}, {queries} queries")
                catalog = sharing.market_catalog(folder, name, queries, folder / "data")
                with contextlib.redirect_stdout(io.StringIO()):
                    spent = sharing.measure(catalog, folder / "data", RATE, events, TIMES, "weave_share,tri_weave")
                for way in (sharing.UNSHARED, "shared, paired", "shared, paned"):
                    seconds.setdefault(way, []).append((queries, spent[way].seconds))
            title = f"Figure {number}: workload {NAMES[name]}"
            figures.append(
                Figure(f"sigmod-{number}", title, "queries", "CPU seconds", seconds, ratios(name, spent), note=NOTE)
            )
    return figures


NOTE = (
    "Unshared is every query evaluated by itself by this same engine, once; shared, the middle one of five runs. "
    "The ratios are those of the most queries."
)


def ratios(name: str, spent: dict[str, sharing.Spent]) -> list[Reading]:
    """Return what the paper reports of a workload, as ratios of ours."""
    unshared, shared, paned = (spent[way] for way in (sharing.UNSHARED, "shared, paired", "shared, paned"))
    readings = [Reading(f"{name}_seconds", unshared.seconds / shared.seconds)]
    if name in {"trades_a", "trades_b"}:
        readings.append(Reading(f"{name}_aggregations", unshared.aggregations / shared.aggregations))
    if name == "trades_a":
        readings.append(Reading("trades_a_panes", paned.seconds / shared.seconds))
    return readings
