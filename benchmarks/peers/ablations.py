"""One idea off at a time: CPU seconds of the same answers with the idea, and without it.

Plans are those of the default strategy by this machine's prices, as the commands make them; where one tree is the
cheapest, whose grid folds coarser slices from finer ones by itself, there are no levels to leave out. Equal plans are
executed once: two measurements of the same one differ, too.

Sharing is off where every query has a tree of its own, levels where there is one tree for all, the block kernel where
another technique takes its place, columns of files where Spark reads the events (the frame lane). Shards of predicates
and the roll-up of groupings are off where the plan knows nothing of recent events, and have catalogs of their own.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks import sharing
from benchmarks.engine_world import (
    RATE,
    World,
    add_second_key,
    cpu,
    measured,
    middle_point,
    world,
    write_events,
    write_grouped_queries,
)
from benchmarks.evidence.figure import Figure, Points, Progress, Size
from benchmarks.frame_lane import frame_lane
from jobs.generate.draws import Options
from jobs.measure.machine_prices import load_prices, save_prices
from jobs.measure.stream import measure_stream
from jobs.runs.calibrate import calibrate
from optimizer.catalog.model.catalog import Catalog
from optimizer.plan.prices import Prices
from optimizer.planning.choices import STRATEGY
from optimizer.planning.stream import plan_stream

TITLE = "Ablations"
KEYS = 10
TIMES = 3  # of every plan; the least CPU seconds count
BLOCK = "two_stacks_block"
ALL = "all ideas on"
IDEAS = {  # what is off: the strategy and the technique that do without it
    ALL: (STRATEGY, BLOCK),
    "sharing": ("no_share", BLOCK),
    "levels": ("shared", BLOCK),
    "block kernel: flat_fit": (STRATEGY, "flat_fit"),
    "block kernel: two_stacks": (STRATEGY, "two_stacks"),
}


def measure(size: Size, progress: Progress) -> list[Figure]:
    """Return one figure: CPU seconds by number of queries, a line for what is off."""
    events, counts = size.of(20_000, 1_000_000, 10_000_000), size.of((1, 10), (1, 10, 100), (1, 10, 100, 1_000))
    points: Points = {_line(idea): [] for idea in (*IDEAS, "the file lane")}
    for count in counts:
        with world(events, KEYS, middle_point(count)) as place:
            known = measure_stream(place.catalog, "events")
            prices = machine_prices(progress).for_run(events, known.rate)
            plans = {
                idea: plan_stream(
                    place.catalog, "events", RATE, *names, known.planned_keys, recent=known.recent, prices=prices
                )
                for idea, names in IDEAS.items()
            }
            progress(f"{count:,} queries, all ideas in turn")
            distinct = {plan.fingerprint(): replace(place, plan=plan).local for plan in plans.values()}
            spent = measured(*distinct.values(), times=TIMES, warm=1, clear=place.clear)
            seconds = dict(zip(distinct, spent, strict=True))
            for idea, plan in plans.items():
                points[_line(idea)].append((count, seconds[plan.fingerprint()]))
            if count in (counts[0], counts[-1]):  # a Spark of its own, warmed up, every time
                progress(f"{count:,} queries without the file lane")
                points["without the file lane"].append((count, frame_lane(place.root)))
    ours = points[ALL][-1][1]
    times = {name: line[-1][1] / ours for name, line in points.items() if name != ALL}
    said = "; ".join(f"{name} {factor:.3g} times" for name, factor in times.items())
    note = (
        f"{events:,} events, {counts[-1]:,} queries: {said}. The frame lane runs on Spark, the others in one process."
    )
    title, axes = "CPU seconds with one idea off", ("queries", "CPU seconds")
    return [Figure("ablations", title, *axes, points, note=note), recent_figure(size, progress)]


def machine_prices(progress: Progress) -> Prices:
    """Return this machine's prices; measure them where nobody has."""
    prices = load_prices()
    if prices is None:
        prices = calibrate(progress)
        save_prices(prices)
    return prices


def recent_figure(size: Size, progress: Progress) -> Figure:
    """Return the CPU seconds with shards and with roll-up, and without what tells the plan that they pay."""
    events = size.of(20_000, 500_000, 5_000_000)
    points: Points = {"with it": [], "without it": []}
    labels = ["shards of predicates", "roll-up of groupings"]
    with tempfile.TemporaryDirectory() as folder:
        for number, (label, prepare) in enumerate(zip(labels, (predicates, groupings), strict=True)):
            progress(label)
            root = Path(folder) / str(number)
            catalog = prepare(root, events)
            stream = next(iter(catalog.streams))
            known = measure_stream(catalog, stream)
            for name, recent in (("with it", known.recent), ("without it", None)):
                plan = plan_stream(catalog, stream, known.rate, "weave_share", BLOCK, known.planned_keys, recent=recent)
                points[name].append((float(number), _cpu_seconds(World(root, catalog, plan))))
    note = (
        f"{events:,} events; 64 queries of 8 windows and 8 predicates; 12 queries by two columns, and by each of them."
    )
    title = "CPU seconds with and without what recent events tell the plan"
    return Figure("ablations-recent", title, "idea", "CPU seconds", points, note=note, log_y=False, labels=labels)


def predicates(root: Path, events: int) -> Catalog:
    """Write trades, and queries whose predicates and windows both differ."""
    sharing.write_market(root / "data", Options(events, seed=1, rate=2_000.0, keys=KEYS))
    return sharing.market_catalog(root, "trades_c", 64, root / "data")


def groupings(root: Path, events: int) -> Catalog:
    """Write readings with a second column, and queries by both columns and by each."""
    write_events(root / "data", events, KEYS)
    add_second_key(root / "data")
    shapes = ((60, "sum(value)"), (300, "max(value)"), (600, "avg(value)"), (3_600, "min(value)"))
    return write_grouped_queries(root, ("machine, line", "machine", "line"), shapes)


def _line(idea: str) -> str:
    return idea if idea == ALL else f"without {idea}"


def _cpu_seconds(here: World) -> float:
    cpu(here.local, here.clear)
    return measured(here.local, times=2, warm=0, clear=here.clear)[0]
