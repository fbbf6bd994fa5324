"""Regret: CPU seconds of the plan that is chosen over those of the fastest plan any strategy found.

    python -m benchmarks.regret [--quick] [--only keys,batches] [--scale 1.0]
    python -m benchmarks.regret --levels     (levels below one root against one tree: at most 1.1 times its CPU)

Every strategy's plan of a setting is executed by the engine in one process, in turn, the least of some runs each;
answers are counted and compared. Plans are searched by the machine's prices; it is calibrated first, unless it has
been. A machine that shares its processor may be half as fast some minutes later, so the prices of the estimates are
those of a calibration whose rounds are run in between. Printed per setting: estimate and measurement of every strategy,
the rank correlation over pairs that differ by more than 10%, and the regret of the default strategy. Bounds: mean
regret at most 1.05, worst 1.15, correlation at least 0.9; estimates within 10% on average and 25% at worst. In the
setting of the frame lane Spark reads and folds the events: plans are executed by its jobs, whose own seconds no
estimate knows, so that they count in the regret and the correlation alone.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.engine_world import World, measured
from benchmarks.verdict import Bound, print_verdict
from jobs.measure.machine_prices import load_prices, save_prices
from jobs.measure.stream import measure_stream
from jobs.runs.calibrate import GROUPINGS, ReadingsQuery, calibrate, open_trials, write_queries, write_readings
from jobs.runs.in_process import evaluate_local
from jobs.runs.request import Options
from optimizer.catalog.model.catalog import Catalog
from optimizer.plan.definition import Plan
from optimizer.plan.prices import Operations, Prices, count_roots, operations_for
from optimizer.planning.choices import STRATEGY, TECHNIQUE
from optimizer.planning.stream import plan_stream
from optimizer.workloads import workload

STRATEGIES = ("shared", "weave_share", "tri_weave", "cascade", "factor_windows")
REPEATS, MOST_REPEATS = 3, 20
ENOUGH = 2.0  # CPU seconds of all plans of a setting together: shorter ones are run more often
ROUNDS = 3  # of the calibration
SELECTS = ("sum(value)", "max(value)", "avg(other)", "min(other)", "var_samp(value)", "count(*)")


@dataclass(frozen=True)
class Setting:
    """A stream and a catalog."""

    name: str
    events: int
    rate: int
    keys: int
    queries: int
    windows: str = "factors"
    options: tuple[tuple[str, int], ...] = (("s_max", 100), ("o_max", 10))
    aggregates: int = 1
    predicates: int = 0
    groupings: int = 1
    files: int = 1  # a batch each
    lane: str = "file"


def settings(scale: float) -> list[Setting]:
    """Return the settings: keys, rates, slides, overlaps, aggregates, predicates, groupings, batches, lanes differ."""
    events = int(400_000 * scale)
    slow, fast = (("s_max", 1000), ("o_max", 10)), (("s_max", 20), ("o_max", 20))
    zipf = (("s_max", 500), ("o_max", 10))
    made = [Setting("keys 1", events * 4, 100, 1, 40)]
    made += [Setting(f"keys {keys}", events, 100, keys, 40) for keys in (100, 1000, 10_000)]
    made += [Setting("slow, keys 1", events, 5, 1, 40, options=slow)]
    made += [Setting("slow, keys 100", events // 4, 5, 100, 40, options=slow)]
    made += [Setting(f"fast, keys {keys}", events * 4, 5000, keys, 40, options=fast) for keys in (1, 100)]
    made += [
        Setting(f"irregular {queries}, keys {keys}", events * 2, 50, keys, queries, "zipf_slides", zipf)
        for queries, keys in ((20, 1), (20, 100), (60, 10))
    ]
    made += [
        Setting(f"overlap {overlap}", events * 2, 100, 10, 30, options=(("s_max", 100), ("o_max", overlap)))
        for overlap in (10, 100, 1000, 10_000)
    ]
    made += [Setting(f"aggregates {count}", events, 100, 100, 30, aggregates=count) for count in (2, 4, 6)]
    made += [Setting(f"predicates {count}", events, 100, 20, 40, predicates=count) for count in (3, 10, 50)]
    made += [Setting(f"groupings {count}", events, 100, 100, 40, groupings=count) for count in (2, 3)]
    made += [Setting(f"batches {count}", events // 2, 100, 100, 30, files=count) for count in (5, 20)]
    made += [Setting("frame lane, predicates 10", events, 100, 20, 40, predicates=10, lane="frame")]
    return made


def write_world(folder: Path, setting: Setting) -> Catalog:
    """Write a setting's events and queries."""
    write_readings(folder / "data", setting.events, setting.rate, setting.keys, setting.files, seed=7)
    return write_queries(folder, queries_of(setting))


def queries_of(setting: Setting) -> Iterator[ReadingsQuery]:
    """Yield the queries of a setting, one for every window; aggregates, predicates and groupings take turns."""
    groupings = GROUPINGS[: setting.groupings] if setting.keys > 1 else ("",)
    options = {"o_max": 100, **dict(setting.options)}
    windows = sorted(set(workload(setting.windows, setting.queries, seed=3, **options).windows()))
    for number, window in enumerate(windows):
        select = SELECTS[number % setting.aggregates]
        where = f"kind < {number % setting.predicates + 3}" if setting.predicates else ""
        keys = groupings[number % len(groupings)]
        yield ReadingsQuery(select, where, keys, window.range, window.slide)


@dataclass
class Row:
    """A strategy's plan: what it has to do in so many batches, its measured CPU seconds, its results."""

    strategy: str
    plan: Plan
    operations: Operations
    batches: int
    seconds: float
    results: int


def measure(setting: Setting, prices: Prices) -> list[Row]:
    """Plan by every strategy and execute the plans that differ, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        catalog = write_world(Path(folder), setting)
        known = measure_stream(catalog, "events")
        here = prices.for_run(setting.events, known.rate, setting.files)  # plans are for the batches that they get
        plans = {
            name: plan_stream(
                catalog, "events", known.rate, name, TECHNIQUE, known.planned_keys, recent=known.recent, prices=here
            )
            for name in STRATEGIES
        }
        distinct = {plan.fingerprint(): plan for plan in plans.values()}
        run = run_jobs if setting.lane == "frame" else run_in_process
        spent = run(World(Path(folder), catalog, plans[STRATEGY]), setting, distinct)
        rows = []
        for name, plan in plans.items():
            operations = operations_for(plan, setting.events, setting.files)
            rows.append(Row(name, plan, operations, setting.files, *spent[plan.fingerprint()]))
        return rows


Spent = dict[str, tuple[float, int]]  # CPU seconds and results, by the plan's fingerprint or name


def run_in_process(world: World, setting: Setting, plans: Mapping[str, Plan]) -> Spent:
    """Execute plans in this process, in turn; the least seconds of every step count."""
    options = Options(buckets=1, files_per_batch=1 if setting.files > 1 else 0)
    steps: dict[str, dict[str, float]] = {}
    results: dict[str, int] = {}
    spent_so_far, round_ = 0.0, 0
    while round_ <= REPEATS or (round_ <= MOST_REPEATS and spent_so_far < ENOUGH):
        for print_, plan in plans.items():
            report = evaluate_local(world.catalog, plan, str(world.root / "warehouses"), options)
            world.clear()
            results[print_] = report.results
            if round_:
                least = steps.setdefault(print_, report.step_seconds)
                steps[print_] = {step: min(least[step], spent) for step, spent in report.step_seconds.items()}
                spent_so_far += sum(report.step_seconds.values())
        round_ += 1
    return {print_: (sum(least.values()), results[print_]) for print_, least in steps.items()}


def run_jobs(world: World, setting: Setting, plans: Mapping[str, Plan]) -> Spent:
    """Execute plans as jobs on Spark, in turn; the least CPU seconds of all its processes count."""
    from benchmarks.frame_lane import working_session

    spark, options = working_session(), Options(lane=setting.lane)
    results: dict[str, int] = {}

    def run(print_: str) -> None:
        results[print_] = replace(world, plan=plans[print_]).job(spark, options).results

    seconds = measured(*(partial(run, print_) for print_ in plans), times=REPEATS, warm=2, clear=world.clear)
    spark.stop()
    return {print_: (spent, results[print_]) for print_, spent in zip(plans, seconds, strict=True)}


def compare_levels(scale: float) -> None:
    """Execute plans of levels below one root, as a search by operations makes them, against one tree."""
    ratios: list[float] = []
    for setting in [setting for setting in settings(scale) if setting.name in ("keys 1", "keys 1000", "keys 10000")]:
        with tempfile.TemporaryDirectory() as folder:
            catalog = write_world(Path(folder), setting)
            known = measure_stream(catalog, "events")
            plans = {
                name: plan_stream(
                    catalog, "events", known.rate, name, TECHNIQUE, known.planned_keys, recent=known.recent
                )
                for name in ("shared", "tri_weave", "cascade")
            }
            of_one_root = {name: plan for name, plan in plans.items() if count_roots(plan.trees) == 1}
            spent = run_in_process(World(Path(folder), catalog, plans["shared"]), setting, of_one_root)
        one_tree = spent["shared"][0]
        ratios += [seconds / one_tree for name, (seconds, _) in spent.items() if name != "shared"]
        shown = "  ".join(f"{name} {len(plans[name].trees)}t {spent[name][0]:.3f}" for name in spent)
        print(f"{setting.name:<24}{shown}", flush=True)
    print_verdict([Bound(f"{len(ratios)} plans of levels over one tree, worst", max(ratios), 1.1, ".2f")])


def agreeing(rows: Sequence[Row], prices: Prices) -> Iterator[bool]:
    """Yield, for pairs of plans whose measurements differ by more than 10%, whether the estimates rank them alike."""
    for one, other in combinations(rows, 2):
        if max(one.seconds, other.seconds) > 1.1 * min(one.seconds, other.seconds):
            yield (estimate(one, prices) < estimate(other, prices)) == (one.seconds < other.seconds)


def estimate(row: Row, prices: Prices) -> float:
    """Return how long a plan should take by some prices."""
    return prices.seconds(row.operations, row.batches)


def main() -> None:
    """Measure every setting, and print the bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="of the streams")
    parser.add_argument("--quick", action="store_true", help="streams of a quarter of their length: three minutes")
    parser.add_argument("--only", default="", help="only settings whose names hold one of these, separated by commas")
    parser.add_argument("--levels", action="store_true", help="plans of levels below one root against one tree instead")
    arguments = parser.parse_args()
    scale = 0.25 if arguments.quick else arguments.scale
    if arguments.levels:
        compare_levels(scale)
        return
    names = arguments.only.split(",")
    compare_plans([setting for setting in settings(scale) if any(name in setting.name for name in names)])


def compare_plans(chosen: Sequence[Setting]) -> None:
    """Measure every setting between rounds of a calibration, and print the bounds by the prices of that."""
    prices = load_prices() or first_prices()
    measured: list[tuple[Setting, list[Row]]] = []
    with open_trials() as calibration:
        calibration.run_once()
        for number, setting in enumerate(chosen):
            if number % -(-len(chosen) // ROUNDS) == 0:
                calibration.run_once()
            rows = measure(setting, prices)
            assert len({row.results for row in rows}) == 1, "plans gave different numbers of answers"
            measured.append((setting, rows))
            print(f"{setting.name:<26}regret {regret(rows):.2f}", flush=True)
        print_bounds(measured, calibration.fit())


def first_prices() -> Prices:
    """Calibrate this machine, and keep its prices."""
    prices = calibrate(print)
    save_prices(prices)
    return prices


def regret(rows: Sequence[Row]) -> float:
    """Return the seconds of the default strategy's plan over those of the fastest."""
    return next(row for row in rows if row.strategy == STRATEGY).seconds / min(row.seconds for row in rows)


def print_bounds(measured: Sequence[tuple[Setting, list[Row]]], prices: Prices) -> None:
    """Print every estimate beside its measurement, then the bounds."""
    regrets, agreements, deviations = [regret(rows) for _, rows in measured], [], []
    print("estimate/measured")
    for setting, rows in measured:
        agreements += list(agreeing(rows, prices))
        apart = [estimate(row, prices) / row.seconds - 1 for row in rows if setting.lane == "file"]
        deviations += [abs(deviation) for deviation in apart]
        parts = (f"{row.strategy} {len(row.plan.trees)}t {estimate(row, prices):.3f}/{row.seconds:.3f}" for row in rows)
        print(f"{setting.name:<26}{'  '.join(parts)}", flush=True)
    alike = 2 * float(np.mean(agreements)) - 1 if agreements else 1.0
    print_verdict(
        [
            Bound(f"mean regret of {STRATEGY} over {len(regrets)} settings", float(np.mean(regrets)), 1.05, ".3f"),
            Bound("worst regret", max(regrets), 1.15, ".3f"),
            Bound(f"rank correlation over {len(agreements)} pairs that differ", alike, 0.9, ".2f", least=True),
            Bound("mean deviation of the estimates", float(np.mean(deviations or [0.0])), 0.10, ".1%"),
            Bound("worst deviation", max(deviations, default=0.0), 0.25, ".1%"),
        ]
    )


if __name__ == "__main__":
    main()
