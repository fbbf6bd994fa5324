"""What things cost on this machine: small streams are evaluated under unlike plans, and prices are fitted to the times.

Half a minute, once per machine and version. The streams differ in keys, rate, windows, measures and batches, so that no
two prices can stand for each other; every plan runs some times, and the fastest run of each counts.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from jobs.host.say import Say
from jobs.measure.stream import measure_stream
from jobs.runs.in_process import evaluate_local
from jobs.runs.report import RunReport
from jobs.runs.request import Options
from optimizer.algebra.techniques import BLOCK, CARDS
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.plan.counters import FINAL, STEPS
from optimizer.plan.definition import Plan
from optimizer.plan.prices import Measured, Prices, fit_steps, operations_of
from optimizer.planning.stream import plan_stream

SECOND = 1_000_000
REPEATS = 2  # rounds of all trials; the least seconds count
SHORT = 0.1  # CPU seconds of a run up to which it is run twice in a row: the second one finds its code in the caches
REGULAR = ((60, 10), (300, 10), (120, 20), (600, 60), (1200, 120), (900, 300))  # seconds of range and slide
DENSE = ((60, 1), (30, 1), (20, 2))  # many answers
IRREGULAR = ((47, 7), (90, 11), (130, 13), (333, 29), (200, 17), (61, 5))
LONG = ((1200, 20), (900, 10), (600, 60), (300, 30))  # long enough for small batches to load much
CHUNKED = ((1800, 5), (900, 10), (1200, 60), (600, 20))  # long enough for chunks
STEADY = ((600, 2), (300, 2), (90, 6))  # many slices to a window
LADDER = ((20, 2), (100, 5), (60, 4), (200, 10), (300, 25), (400, 50), (90, 3))
SLOW = ((2000, 200), (5000, 500), (900, 300), (1000, 125), (640, 40), (250, 50), (3600, 90))
LITERAL_EVENTS = 30_000
GROUPINGS = ("machine", "hall", "machine, hall")


@dataclass(frozen=True)
class Trial:
    """A small stream with its windows, and the plans it is evaluated under."""

    events: int
    rate: int  # events per second
    keys: int
    windows: Sequence[tuple[int, int]]
    selects: Sequence[str]
    strategies: Sequence[str]
    techniques: Sequence[str] = (BLOCK,)
    files: int = 1  # a batch each
    parts: int = 1  # files that each of those comes in
    predicates: int = 0  # every query is asked with each of them
    passing: int = 30  # of a hundred events, those that pass the first of them
    groupings: int = 1  # queries take turns with these groupings


SUMS, MORE = ("sum(value)",), ("sum(value)", "max(value)", "count(value)", "var_samp(other)")
TRIALS = (
    Trial(600_000, 400, 1, REGULAR, SUMS, ("shared", "tri_weave", "no_share")),
    Trial(200_000, 100, 100, REGULAR, MORE, ("shared", "tri_weave", "no_share")),
    Trial(200_000, 400, 1000, REGULAR, SUMS, ("shared", "tri_weave", "no_share")),
    Trial(50_000, 50, 200, DENSE, SUMS, ("shared", "no_share")),
    Trial(400_000, 4000, 10, DENSE, MORE, ("shared",)),
    Trial(60_000, 20, 50, IRREGULAR, MORE, ("shared", "no_share")),
    Trial(200_000, 1000, 20, IRREGULAR, SUMS, ("shared", "no_share")),
    Trial(120_000, 200, 100, REGULAR, SUMS, ("shared", "no_share"), files=12),
    Trial(20_000, 200, 10, REGULAR, MORE, ("shared", "tri_weave"), files=6),
    Trial(100_000, 100, 10_000, REGULAR, SUMS, ("shared", "tri_weave")),
    Trial(50_000, 100, 2_000, DENSE, SUMS, ("shared",)),
    Trial(50_000, 100, 2_000, REGULAR, MORE, ("shared",)),
    Trial(100_000, 200, 20, REGULAR, SUMS, ("shared", "no_share"), predicates=4),
    Trial(100_000, 1000, 5, REGULAR, SUMS, ("shared",), predicates=20),
    Trial(60_000, 40, 100, LONG, SUMS, ("shared", "tri_weave"), files=20),
    Trial(30_000, 20, 500, LONG, MORE, ("shared",), files=5),
    Trial(100_000, 100, 200, REGULAR, SUMS, ("shared", "no_share"), groupings=3),
    Trial(60_000, 100, 300, LONG, MORE, ("shared",), groupings=2),
    Trial(40_000, 20, 5, IRREGULAR, SUMS, ("shared", "tri_weave")),
    Trial(60_000, 10, 1, LONG, MORE, ("shared",)),
    Trial(60_000, 60, 30, REGULAR, ("sum(value)", "max(value)"), ("no_share",), predicates=2),
    Trial(60_000, 100, 40, DENSE, SUMS, ("shared",), files=20),
    Trial(80_000, 100, 20, CHUNKED, SUMS, ("shared", "tri_weave"), files=20),
    Trial(60_000, 100, 100, CHUNKED, MORE, ("shared",), files=8),
    Trial(60_000, 20, 50, CHUNKED, SUMS, ("shared", "tri_weave")),
    Trial(200_000, 100, 100, LADDER, MORE, ("shared", "tri_weave")),
    Trial(60_000, 100, 1000, LADDER, ("max(value)", "avg(other)"), ("shared", "no_share")),
    Trial(200_000, 100, 20, LADDER, SUMS, ("shared", "tri_weave", "no_share"), predicates=3, passing=5),
    Trial(100_000, 200, 30, REGULAR, SUMS, ("shared", "no_share"), parts=20),
    Trial(100_000, 20, 1, LADDER, ("min(value)",), ("shared",), parts=8),
    Trial(200_000, 5, 1, SLOW, SUMS, ("shared", "tri_weave", "factor_windows")),
    Trial(60_000, 5, 50, SLOW, ("sum(value)", "max(value)"), ("shared", "tri_weave", "no_share")),
    Trial(150_000, 100, 30, LADDER, SUMS, ("no_share", "shared"), predicates=2, passing=3),
    Trial(200_000, 100, 60, LADDER, SUMS, ("shared", "tri_weave"), groupings=2),
)


def calibrate(say: Say, trials: Sequence[Trial] = TRIALS) -> Prices:
    """Evaluate the trials, and fit the prices of this machine to what they took."""
    with open_trials(trials) as calibration:
        for number in range(REPEATS):
            calibration.run_once()
            say(f"calibrating: round {number + 1} of {REPEATS}")
        return calibration.fit()


class Calibration:
    """The trials of a machine, ready to be run, and what they took. The least of a trial's runs counts.

    A machine that shares its processor is slow for some seconds, now and then. So all trials run in turn, then all once
    more, instead of one trial some times in a row."""

    def __init__(self, worlds: Sequence[World]) -> None:
        self._worlds = worlds
        self._reports: dict[tuple[int, int], list[RunReport]] = {}

    def run_once(self) -> None:
        """Evaluate every trial under each of its plans."""
        for number, world in enumerate(self._worlds):
            for place, plan in enumerate(world.plans):
                reports = self._reports.setdefault((number, place), [])
                reports.append(world.evaluate(plan))
                if sum(reports[-1].step_seconds.values()) < SHORT:
                    reports.append(world.evaluate(plan))

    def fit(self) -> Prices:
        """Return the prices that the rounds so far tell."""
        runs = [
            measured_run(self._worlds[number].plans[place], reports)
            for (number, place), reports in self._reports.items()
        ]
        return _no_free_technique(fit_steps(runs))


@contextmanager
def open_trials(trials: Sequence[Trial] = TRIALS) -> Iterator[Calibration]:
    """Write the events and queries of trials, and those of every technique, and plan them."""
    with tempfile.TemporaryDirectory(prefix="heddle-calibrate-") as folder:
        every = [*trials, *_literal_trials()]
        yield Calibration([World.of(trial, Path(folder, str(number))) for number, trial in enumerate(every)])


@dataclass(frozen=True)
class World:
    """A trial on disk, and its plans."""

    folder: Path
    catalog: Catalog
    plans: Sequence[Plan]
    options: Options

    @classmethod
    def of(cls, trial: Trial, folder: Path) -> World:
        """Write the events and queries of a trial, and plan them."""
        write_readings(folder / "data", trial.events, trial.rate, trial.keys, trial.files * trial.parts)
        catalog = write_queries(folder, _queries_of(trial))
        recent = measure_stream(catalog, "events").recent
        chosen = [(strategy, technique) for strategy in trial.strategies for technique in trial.techniques]
        plans = [plan_stream(catalog, "events", trial.rate, *names, recent=recent) for names in chosen]
        return cls(folder, catalog, plans, Options(buckets=1, files_per_batch=trial.parts if trial.files > 1 else 0))

    def evaluate(self, plan: Plan) -> RunReport:
        """Evaluate a plan from scratch."""
        warehouse = self.folder / "warehouse"
        shutil.rmtree(warehouse, ignore_errors=True)
        return evaluate_local(self.catalog, plan, str(warehouse), self.options)


def _no_free_technique(prices: Prices) -> Prices:
    """Give every technique that takes a slice at a time at least the lowest price that the trials could tell.

    An operation that costs nothing in the fit, since slices explain its time as well, would win every choice.

    >>> prices = _no_free_technique(Prices({"final.daba": 0.0, "final.panes": 2e-7, "final.two_stacks_block": 2e-9}))
    >>> prices.each["final.daba"], prices.each["final.two_stacks_block"]
    (2e-07, 2e-09)
    """
    block = f"{FINAL}{BLOCK}"
    literal = {name: price for name, price in prices.each.items() if name.startswith(FINAL) and name != block}
    floor = min((price for price in literal.values() if price > 0), default=0.0)
    return Prices({**prices.each, **{name: max(price, floor) for name, price in literal.items()}}, prices.error)


def _literal_trials() -> Iterator[Trial]:
    """Yield two short streams for every technique that answers a slice at a time, and two more for the columns."""
    for name, card in CARDS.items():
        select = "max(value)" if card.needs == "selective" else "sum(value)"
        yield Trial(LITERAL_EVENTS, 2, 1, REGULAR, (select,), ("shared", "no_share"), (name,))
        yield Trial(LITERAL_EVENTS, 2, 1, STEADY, (select,), ("shared", "tri_weave"), (name,))


def measured_run(plan: Plan, reports: Sequence[RunReport]) -> Measured:
    """Return what the engine counted in equal runs of a plan, and the least seconds that every step took.

    Operations of a technique that takes a slice at a time are those of its Omega, since an estimate knows no others.
    """
    steps = {step: min(report.step_seconds.get(step, 0.0) for report in reports) for step in STEPS}
    paper = operations_of(plan).times(reports[0].events / plan.rate)
    counted, estimated = _add_trees(reports[0].counted), _add_trees(reports[0].estimated)
    by_slice = {name for name in counted if name.startswith(FINAL) and name != f"{FINAL}{BLOCK}"}
    counts = {name: estimated.get(name, 0.0) if name in by_slice else count for name, count in counted.items()}
    return Measured(replace(paper, handled=counts), max(sum(steps.values()), 1e-9), reports[0].batches, steps)


def _add_trees(by_tree: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
    """Return what was done for all trees together."""
    total: dict[str, float] = {}
    for counts in by_tree.values():
        for name, count in counts.items():
            total[name] = total.get(name, 0.0) + count
    return total


def write_readings(folder: Path, events: int, rate: int, keys: int, files: int, seed: int = 1) -> None:
    """Write readings of random machines at a rate: two values, the machine's hall, and a kind from 0 to 99."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    for number, part in enumerate(np.array_split(np.arange(events), files)):
        machines = rng.integers(0, keys, len(part))
        columns = {
            "ts": pa.array(part * SECOND // rate, pa.timestamp("us", "UTC")),
            "machine": pa.array(machines),
            "hall": pa.array(machines % 7),
            "kind": pa.array(rng.integers(0, 100, len(part))),
            "value": rng.normal(size=len(part)),
            "other": rng.normal(size=len(part)),
        }
        pq.write_table(pa.table(columns), folder / f"part-{number:05d}.parquet")


class ReadingsQuery(NamedTuple):
    """A query over readings: its aggregate, its predicate and group-by columns ("" for none), its window in seconds."""

    select: str
    where: str
    keys: str
    range: int
    slide: int


def write_queries(folder: Path, queries: Iterable[ReadingsQuery]) -> Catalog:
    """Write a catalog of queries over readings, and load it."""
    lines = ["streams:", "  events: {source: {format: parquet, path: data}, time: ts, lateness: 0 seconds}", "queries:"]
    for number, query in enumerate(queries):
        fields = f"select: {query.select}"
        fields += f', where: "{query.where}"' if query.where else ""
        fields += f", group_by: [{query.keys}]" if query.keys else ""
        clock = f"range: {query.range} seconds, slide: {query.slide} seconds"
        lines.append(f"  - {{id: q{number:03d}, stream: events, {fields}, {clock}}}")
    (folder / "catalog").mkdir()
    (folder / "catalog" / "catalog.yaml").write_text("\n".join(lines))
    return load_catalog(folder / "catalog")


def _queries_of(trial: Trial) -> Iterator[ReadingsQuery]:
    """Yield the trial's queries, every measure over every window; they take turns with the groupings."""
    groupings = GROUPINGS[: trial.groupings] if trial.keys > 1 else ("",)
    wheres = [f"kind < {trial.passing + 3 * number}" for number in range(trial.predicates)] or [""]
    shapes = [(window, select, where) for window in trial.windows for select in trial.selects for where in wheres]
    for number, (window, select, where) in enumerate(shapes):
        yield ReadingsQuery(select, where, groupings[number % len(groupings)], *window)
