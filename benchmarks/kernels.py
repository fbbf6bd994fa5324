"""The columnar kernels against one memory pass and against what a user would take instead: CPU time, as ratios.

    python -m benchmarks.kernels [--check] [--only one_column,slide,queries,all_ranges,groups,first_call]

Everything is measured in one run, each figure the best of five; --check ends with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.kernel_peers import (
    LIBRARIES,
    MOVE,
    PASS,
    Array,
    accumulator_per_start,
    backward_scan,
    by_polars,
    shared_chunks,
)
from jobs.kernels import sliding
from jobs.kernels.algebra.operators import MAX, SUM_FLOAT
from jobs.kernels.columns.bounds import find_windows
from jobs.kernels.columns.fold import fold
from jobs.kernels.columns.scratch import allocate_columns
from optimizer.windows.window import Window

Seconds = dict[str, float]


class Ratio(NamedTuple):
    """A measured ratio and its target; at_most where smaller is better."""

    name: str
    value: float
    target: float
    at_most: bool = False

    @property
    def met(self) -> bool:
        return self.value <= self.target if self.at_most else self.value >= self.target


def measure(runs: dict[str, Callable[[], object]], values: Array, best_of: int = 5) -> Seconds:
    """CPU seconds of each, the best of several rounds, so that a noisy moment hits all alike. The values are read
    before each: what ran before may have left them in the cache, or not."""
    for run in runs.values():
        run()
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(best_of):
        for name, run in runs.items():
            values.sum()
            start = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - start)
    return best


def one_column(events: int) -> Iterator[Ratio]:
    """One column, slide 1."""
    values = np.random.default_rng(1).normal(size=events)
    targets = {"max": (8.0, 15.0, 0.40), "sum": (1.1, 5.0, 0.0)}
    for width in (16, 1_024, 65_536):
        for aggregate, (bottleneck, polars, one_pass) in targets.items():
            took = measure(
                {
                    "sliding": partial(sliding, values, Window(width, 1), aggregate),
                    "bottleneck": partial(MOVE[aggregate], values, width),
                    "polars": partial(by_polars, values, width, 1, aggregate),
                    "pass": partial(PASS[aggregate], values),
                },
                values,
            )
            name = f"{aggregate} over {width}"
            yield Ratio(f"{name}: times bottleneck", took["bottleneck"] / took["sliding"], bottleneck)
            yield Ratio(f"{name}: times polars", took["polars"] / took["sliding"], polars)
            if one_pass:
                yield Ratio(f"{name}: of one memory pass", took["pass"] / took["sliding"], one_pass)


def slide(events: int) -> Iterator[Ratio]:
    """Range 65,536, slide 1,024."""
    values = np.random.default_rng(2).normal(size=events)
    width, step = 65_536, 1_024
    for aggregate, best_peer in {"max": 15.0, "sum": 2.5}.items():
        took = measure(
            {
                "sliding": partial(sliding, values, Window(width, step), aggregate),
                "pass": partial(PASS[aggregate], values),
                "bottleneck": partial(MOVE[aggregate], values, width),
                "polars": partial(by_polars, values, width, 1, aggregate),
            },
            values,
        )
        peer = min(took["bottleneck"], took["polars"])
        yield Ratio(f"{aggregate} over 65536 by 1024: of one memory pass", took["pass"] / took["sliding"], 0.7)
        yield Ratio(f"{aggregate} over 65536 by 1024: times the best peer", peer / took["sliding"], best_peer)


def _middle_point(overlap: int, events: int) -> list[Window]:
    """100 queries as the papers draw them: slides from the factors of 1,000, ranges up to `overlap` slides."""
    draw = np.random.default_rng(3)
    factors = [factor for factor in range(1, 1_001) if 1_000 % factor == 0]
    slides = draw.choice(factors, 100)
    return [Window(int(s) * int(draw.integers(1, min(overlap, events // s) + 1)), int(s)) for s in slides]


def _by_hand(values: Array, windows: list[Window], aggregate: str) -> list[Array]:
    chunks = {step: shared_chunks(values, step, aggregate) for step in sorted({w.slide for w in windows})}
    return [MOVE[aggregate](chunks[w.slide], w.range // w.slide) for w in windows]


SAMPLED = {"pandas": (10, 1), "polars": (10, 1), "duckdb": (25, 20)}  # every so manieth query, a part of the events


def _by_library(values: Array, windows: list[Window], aggregate: str, library: str) -> float:
    """CPU seconds for all queries, each alone over the events; from a sample, since all would take an hour."""
    every, part = SAMPLED[library]
    events = values[: len(values) // part]
    sample = [window for window in windows[::every] if window.range <= len(events)]
    start = time.process_time()
    for window in sample:
        LIBRARIES[library](events, window.range, window.slide, aggregate)
    return (time.process_time() - start) * part * len(windows) / len(sample)


def queries(events: int) -> Iterator[Ratio]:
    """100 queries of the papers' middle point."""
    values = np.random.default_rng(4).normal(size=events)
    for overlap in (100, 10_000):
        windows = _middle_point(overlap, events)
        sizes = [(events - window.range) // window.slide + 1 for window in windows]
        for aggregate, by_hand in {"max": 8.0, "sum": 2.0}.items():
            took = measure(
                {
                    "sliding": partial(sliding, values, windows, aggregate),
                    "floor": partial(_floor, values, sizes, aggregate),
                    "by hand": partial(_by_hand, values, windows, aggregate),
                },
                values,
            )
            name = f"100 queries, overlap to {overlap}, {aggregate}"
            yield Ratio(f"{name}: times the floor", took["sliding"] / took["floor"], 3.5, at_most=True)
            yield Ratio(f"{name}: times numpy + bottleneck", took["by hand"] / took["sliding"], by_hand)
            for library in LIBRARIES:
                seconds = _by_library(values, windows, aggregate, library)
                yield Ratio(f"{name}: times {library}", seconds / took["sliding"], 50.0)


def _floor(values: Array, sizes: list[int], aggregate: str) -> list[Array]:
    """One read pass and writing all results, kept until all are written, in the memory that answers have."""
    PASS[aggregate](values)
    results = allocate_columns(sizes, values.dtype)
    for result in results:
        result.fill(1.0)
    return results


def all_ranges(results: int) -> Iterator[Ratio]:
    """All ranges 1..n at once."""
    for longest in (16, 256, 4_096):
        events = results // longest + longest
        values = np.random.default_rng(5).normal(size=events)
        windows = [Window(width, 1) for width in range(1, longest + 1)]
        few = values[: longest + max(64, results // longest // 64)]
        for aggregate in ("max", "sum"):
            largest = aggregate == "max"
            took = measure(
                {
                    "sliding": partial(sliding, values, windows, aggregate),
                    "start": partial(accumulator_per_start, values, longest, largest),
                    "scan": partial(backward_scan, values, longest, largest),
                },
                values,
            )
            sliding(few[:longest], windows, aggregate, "flat_fit")  # compiled before the clock starts
            start = time.process_time()
            sliding(few, windows, aggregate, "flat_fit")
            literal = time.process_time() - start
            a_result = took["sliding"] / (longest * (events - longest / 2))
            a_literal = literal / (longest * (len(few) - longest / 2))
            name = f"all ranges to {longest}, {aggregate}"
            yield Ratio(f"{name}: times flat_fit", a_literal / a_result, 5.0)
            a_start = took["start"] / (longest * events)
            a_scan = took["scan"] / (longest * (events - longest + 1))
            yield Ratio(f"{name}: times an accumulator per start", a_start / a_result, 1.0)
            yield Ratio(f"{name}: times a backward scan", a_scan / a_result, 1.0)


def groups(keys: int) -> Iterator[Ratio]:
    """Many keys of 20 slices each against one key with as many slices."""
    slices, window = keys * 20, Window(5, 1)
    values = np.random.default_rng(6).normal(size=slices)
    many = np.arange(0, slices + 1, 20), np.tile(np.arange(20), keys)
    one = np.array([0, slices]), np.arange(slices)

    def run(op: int, offsets: Array, starts: Array) -> Array:
        windows = find_windows(offsets, starts, window, -1, slices + 5)
        return fold(op, (values,), windows.lo, windows.hi)

    for name, op in {"max": MAX, "sum": SUM_FLOAT}.items():
        took = measure({"many": partial(run, op, *many), "one": partial(run, op, *one)}, values)
        yield Ratio(f"{keys} keys of 20 slices, {name}: of one key's throughput", took["one"] / took["many"], 0.3)


FIRST_CALL = """
import time
start = time.process_time()
import numba
imported = time.process_time() - start
import numpy as np
from jobs.kernels import sliding
from optimizer.windows.window import Window
start = time.process_time()
sliding(np.arange(1000.0), [Window(16, 1), Window(300, 100)], "max")
print(imported, time.process_time() - start)
"""


def first_call(rounds: int) -> Iterator[Ratio]:
    """The first call in a new process, the cache being warm, against the import of numba."""
    took = []
    for _ in range(rounds + 1):
        done = subprocess.run([sys.executable, "-c", FIRST_CALL], check=True, capture_output=True, text=True)
        took.append([float(seconds) for seconds in done.stdout.split()])
    imported, called = np.min(took[1:], axis=0)
    yield Ratio("first call: times the import of numba", float(called / imported), 3.0, at_most=True)


SECTIONS: dict[str, tuple[Callable[[int], Iterator[Ratio]], int]] = {
    "one_column": (one_column, 3_000_000),
    "slide": (slide, 3_000_000),
    "queries": (queries, 5_000_000),
    "all_ranges": (all_ranges, 24_000_000),
    "groups": (groups, 100_000),
    "first_call": (first_call, 5),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="end with 1 if a target is missed")
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, with commas")
    chosen = parser.parse_args()
    missed = 0
    for name in chosen.only.split(","):
        section, size = SECTIONS[name]
        for ratio in section(size):
            missed += not ratio.met
            word = "at most" if ratio.at_most else "at least"
            verdict = "met" if ratio.met else "MISSED"
            print(f"{verdict:6}  {ratio.value:8.2f}  ({word} {ratio.target:g})  {ratio.name}", flush=True)
    return int(bool(chosen.check and missed))


if __name__ == "__main__":
    sys.exit(main())
