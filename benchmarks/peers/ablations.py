"""One idea off at a time: CPU seconds of the same answers with the idea, and without it.

Sharing is off where every query has a tree of its own, levels where there is one tree for all, the block kernel where
another technique takes its place, columns of files where Spark reads the events (the frame lane).
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.engine_world import RATE, World, cpu, measured, middle_point, world
from benchmarks.evidence.figure import Figure, Points, Progress, Size
from benchmarks.frame_lane import frame_lane
from optimizer.planning.stream import plan_stream

TITLE = "Ablations"
KEYS = 10
BLOCK = "two_stacks_block"
IDEAS = {  # what is off: the strategy and the technique that do without it
    "nothing": ("weave_share", BLOCK),
    "sharing": ("no_share", BLOCK),
    "levels": ("shared", BLOCK),
    "block kernel: flat_fit": ("weave_share", "flat_fit"),
    "block kernel: two_stacks": ("weave_share", "two_stacks"),
}


def measure(size: Size, progress: Progress) -> list[Figure]:
    """Return one figure: CPU seconds by number of queries, a line for what is off."""
    events, counts = size.of(20_000, 1_000_000, 10_000_000), size.of((1, 10), (1, 10, 100), (1, 10, 100, 1_000))
    points: Points = {f"without {idea}": [] for idea in (*IDEAS, "the file lane")}
    for count in counts:
        with world(events, KEYS, middle_point(count)) as place:
            for idea, (strategy, technique) in IDEAS.items():
                progress(f"{count:,} queries without {idea}")
                here = replace(place, plan=plan_stream(place.catalog, "events", RATE, strategy, technique))
                points[f"without {idea}"].append((count, _cpu_seconds(here)))
            if count in (counts[0], counts[-1]):  # a Spark of its own, warmed up, every time
                progress(f"{count:,} queries without the file lane")
                points["without the file lane"].append((count, frame_lane(place.root)))
    ours = points["without nothing"][-1][1]
    times = {name: line[-1][1] / ours for name, line in points.items() if name != "without nothing"}
    said = "; ".join(f"{name} {factor:.3g} times" for name, factor in times.items())
    note = (
        f"{events:,} events, {counts[-1]:,} queries: {said}. The frame lane runs on Spark, the others in one process."
    )
    return [Figure("ablations", "CPU seconds with one idea off", "queries", "CPU seconds", points, note=note)]


def _cpu_seconds(here: World) -> float:
    cpu(here.local, here.clear)
    return measured(here.local, times=2, warm=0, clear=here.clear)[0]
