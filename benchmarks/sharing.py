"""Shared against unshared, paired against paned: the trades workloads A, B and C, aggregations counted and CPU seconds.

    python -m benchmarks.sharing [--workloads trades_a,trades_b,...] [--queries 16,64,256] [--events 2000000]
                                 [--strategies weave_share,tri_weave]

The engine runs in this process over trades that are joined with Close and Index already: what Spark adds (the join,
the tasks) is the same for all and would only be noise.

Unshared is what the paper compares with, and what a team has that runs its queries side by side: every query is
evaluated by itself, by this same engine, one run after the other in this process, warmed up; each reads the columns it
needs, evaluates its own predicate, and has its own slices, finals and results. Nothing of Spark or of starting up is in
it. Beside it stands one job that still weaves nothing (the no_share plan: every query has its own feed, state and
finals), but reads the events once and evaluates each distinct predicate once, for all queries: already a kind of
sharing, which shows how much of the gain is reading and how much is aggregating. Both count the same aggregations.

Shared is the cheapest plan of some strategies, with what recent events say. Pairs cut slices where windows start and
end, panes at every common divisor of all of a tree's ranges and slides. An aggregation is an event or a partial that
is folded, in feeds, shards and finals. Beside them stands what evaluating window by window, as plain SQL does, would
count.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from jobs.engine.batch.run_batch import close, run_batch
from jobs.engine.events.file_types import file_types
from jobs.engine.events.parquet import splits_of
from jobs.engine.program.compile import compile_program
from jobs.engine.program.program import Program
from jobs.engine.sources.contract import File
from jobs.engine.warehouse.manifest import Manifest
from jobs.generate.draws import Options
from jobs.generate.trades import TABLES, trades
from jobs.host.storage import Storage
from jobs.measure.recent_events import RecentEvents, recent_events
from jobs.runs.in_process import in_process
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.plan.definition import Plan
from optimizer.planning.stream import plan_stream
from optimizer.workloads import workload
from optimizer.workloads.workload import write_catalog

STREAM = "market"
BOUNDS = {"trades_a": 10.0, "trades_b": 8.0, "trades_c": 10.0, "trades_c_low": 2.0}  # at 256 queries
TECHNIQUE = "two_stacks_block"
UNSHARED = "unshared"


class Spent(NamedTuple):
    """What a run took."""

    aggregations: int
    seconds: float


def write_market(folder: Path, options: Options) -> None:
    """The trades with the columns of the tables they are joined to."""
    folder.mkdir(parents=True)
    tables = [make(options) for make in TABLES.values()]
    for number, block in enumerate(trades(options)):
        joined = block
        for table in tables:
            joined = joined.join(table, "symbol", join_type="inner")
        pq.write_table(joined.sort_by("ts"), folder / f"part-{number:05d}.parquet", row_group_size=1 << 20)


def market_catalog(folder: Path, name: str, queries: int, data: Path, seed: int = 1) -> Catalog:
    """The workload as a catalog over the joined trades."""
    place = folder / f"{name}-{queries}-{seed}"
    write_catalog(workload(name, queries, seed=seed), place)
    stream = f"source: {{format: parquet, path: {data}}}, time: ts, lateness: 5 seconds"
    (place / "streams.yaml").write_text(f"streams:\n  {STREAM}: {{{stream}}}\n")
    return load_catalog(place)


def paned(program: Program) -> Program:
    """The same program, its slices cut at every common divisor of a tree's ranges and slides."""
    groupings = []
    for grouping in program.groupings:
        trees = []
        for tree in grouping.trees:
            windows = [query.window for query in tree.queries]
            pane = math.gcd(
                *(period for period, _ in tree.edges), *(w.range for w in windows), *(w.slide for w in windows)
            )
            trees.append(replace(tree, edges=((pane, 0),)))
        groupings.append(replace(grouping, trees=tuple(trees)))
    return replace(program, groupings=tuple(groupings))


def run(program: Program, files: list[File], times: int) -> Spent:
    """One batch in this process, and its closing; the middle one of some runs by their CPU."""
    spent = []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as warehouse:
            storage = Storage(warehouse)
            started = time.process_time()
            execute = in_process([split for heap in splits_of(files, 1) for split in heap])
            after = run_batch(storage, Manifest(buckets=1), program, 0, execute)
            closed = close(storage, after, program, in_process([]))
            seconds = time.process_time() - started
        counted = sum(sum(manifest.counts["operations"].values()) for manifest in (after, closed))
        spent.append(Spent(counted, seconds))
    return sorted(spent, key=lambda each: each.seconds)[times // 2]


def window_by_window(catalog: Catalog, events: int, recent: RecentEvents | None) -> int:
    """The events that a plain evaluation of every query would fold: each once for every window that holds it."""
    share = recent.share if recent else (lambda where: 1.0)
    queries = [catalog.query(id) for id in catalog.statements]
    return round(sum(events * share(query.where) * query.window.overlap_factor for query in queries))


def alone(catalog: Catalog, plan: Plan, files: list[File]) -> Spent:
    """Every query evaluated by itself; what all of them took together."""
    found = []
    for tree in plan.trees:
        single = replace(plan, trees=(tree,))
        program = compile_program(catalog, single, file_types(catalog, single, files[0][0]))
        if not found:
            run(program, files[:1], 1)  # warms up
        found.append(run(program, files, 1))
    return Spent(sum(each.aggregations for each in found), sum(each.seconds for each in found))


def measure(catalog: Catalog, data: Path, rate: float, events: int, times: int, strategies: str) -> dict[str, Spent]:
    """Every way to evaluate a catalog."""
    files = [File(str(path), path.stat().st_size) for path in sorted(data.glob("*.parquet"))]
    recent = recent_events(catalog, STREAM)
    plans = {"one job": plan_stream(catalog, STREAM, rate, "no_share", TECHNIQUE)}
    started = time.process_time()
    ways = [plan_stream(catalog, STREAM, rate, each, TECHNIQUE, recent=recent) for each in strategies.split(",")]
    plans["shared"] = min(ways, key=lambda plan: plan.cost)
    print(f"    {_kept(plans['shared'])}, planned in {time.process_time() - started:.1f} CPU seconds", flush=True)
    found = {"window by window": Spent(window_by_window(catalog, events, recent), math.nan)}
    found[UNSHARED] = alone(catalog, plans["one job"], files)
    cuts: dict[str, Callable[[Program], Program]] = {"paired": lambda program: program, "paned": paned}
    for name, plan in plans.items():
        program = compile_program(catalog, plan, file_types(catalog, plan, files[0][0]))
        for cut, change in cuts.items():
            run(change(program), files[:1], 1)  # warms up
            found[f"{name}, {cut}"] = run(change(program), files, times)
    return found


def _kept(plan: Plan) -> str:
    sharded = sum(tree.sharded for tree in plan.trees)
    return f"shared: {len(plan.trees)} trees by {plan.strategy}, {sharded} with shards"


def report(name: str, queries: int, found: dict[str, Spent]) -> bool:
    """Print the figures and ratios; whether the bounds hold."""
    shared, unshared = found["shared, paired"], found[UNSHARED]
    for way, spent in found.items():
        seconds = "" if math.isnan(spent.seconds) else f"{spent.seconds:8.2f} CPU seconds"
        print(f"    {way:18} {spent.aggregations:15,} aggregations {seconds}")
    counted, cpu = unshared.aggregations / shared.aggregations, unshared.seconds / shared.seconds
    plain = found["window by window"].aggregations / shared.aggregations
    print(f"    unshared/shared: counted {counted:.1f}, CPU {cpu:.1f}; window by window/shared: counted {plain:.1f}")
    print(f"    one job/shared: CPU {found['one job, paired'].seconds / shared.seconds:.1f}")
    for way in ("one job", "shared"):
        panes, pairs = found[f"{way}, paned"], found[f"{way}, paired"]
        ratios = panes.aggregations / pairs.aggregations, panes.seconds / pairs.seconds
        print(f"    paned/paired, {way}: counted {ratios[0]:.2f}, CPU {ratios[1]:.2f}")
    bound = BOUNDS[name]
    holds = queries < 256 or (counted >= bound and cpu >= bound)
    if queries >= 256:
        print(f"    unshared/shared at least {bound:g}: {'holds' if holds else 'DOES NOT HOLD'}", flush=True)
    return holds


def main() -> None:
    """Measure every workload and size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", default=",".join(BOUNDS))
    parser.add_argument("--queries", default="16,64,256")
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--rate", type=float, default=2_000.0)
    parser.add_argument("--symbols", type=int, default=10)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--strategies", default="weave_share,tri_weave")
    given = parser.parse_args()
    options = Options(given.events, seed=1, rate=given.rate, keys=given.symbols)
    print(f"{given.events:,} trades of {given.symbols} symbols at {given.rate:g} a second; engine in process, no Spark")
    holds = True
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_market(folder / "data", options)
        for name in given.workloads.split(","):
            for queries in map(int, given.queries.split(",")):
                print(f"{name}, {queries} queries", flush=True)
                catalog = market_catalog(folder, name, queries, folder / "data")
                found = measure(catalog, folder / "data", given.rate, given.events, given.times, given.strategies)
                holds &= report(name, queries, found)
    sys.exit(not holds)


if __name__ == "__main__":
    main()
