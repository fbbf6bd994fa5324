"""SlickDeque (EDBT 2018), experiments 1 to 4: throughput, all ranges at once, latency and memory of every technique.

A technique is timed by itself: when windows end is worked out beforehand, and the first window is full. Slides are one
event, as in the paper. A technique takes as many slides as fit into a time, so that a slow one ends, too.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any

import numpy as np
from numba import njit

import jobs  # noqa: F401 (names the cache's folder, before numba is imported)
from benchmarks.evidence.figure import Figure, Points, Progress, Reading, Size
from benchmarks.papers import plain_float
from jobs.kernels.algebra.operators import OPS, lift
from jobs.kernels.machine.clock import INSERT, Steps, make_clock, schedule_groups
from jobs.kernels.machine.memory import FLOAT, Memory, begin_slide, store
from jobs.kernels.techniques import KERNELS
from optimizer.algebra.techniques import allowed
from optimizer.windows.window import BEGINNING, Window

TITLE = "Techniques against each other (EDBT 2018)"
NAMES = {
    "panes": "Naive",
    "flat_fat": "FlatFAT",
    "b_int": "B-Int",
    "flat_fit": "FlatFIT",
    "two_stacks": "TwoStacks",
    "daba": "DABA",
    "slick_deque_inv": "SlickDeque (Inv)",
    "slick_deque_noninv": "SlickDeque (Non-Inv)",
    "two_stacks_block": "TwoStacks, in blocks (ours)",
    "plain_float": "SlickDeque (Inv), plain float",
}
EVERY = {**KERNELS, "plain_float": plain_float.KERNEL}
PAPERS = set(NAMES) - {"two_stacks_block", "plain_float"}
SLICK = {"sum": "slick_deque_inv", "max": "slick_deque_noninv"}
SUMS_ONLY = {"slick_deque_inv", "plain_float"}
ONE_RANGE = {"two_stacks", "daba", "two_stacks_block"}  # have no shared form for many ranges, slide by slide
EXACT = "the engine's accumulator is exact: no spike, NaN or rounding stays behind; "
AS_PRINTED = EXACT + "as printed, by a plain float, it is {:.2f} times"
DEQUE = "of random values a deque holds few; the paper measures whole processes on real readings"
RUNS = 5  # of the latency of every answer
CATEGORIES = ("min", "25%", "median", "75%", "average", "max")
EVENT_BYTES = 400  # of memory for every event of a window: values, steps, and the state of the largest technique
LEAST_SECONDS, MOST_SECONDS = 0.15, 0.6  # of CPU: techniques that flip or fold at times take a whole window of slides
FIRST_CHUNK = 16  # slides; every further chunk has twice as many


class Prepared:
    """A stream of random values, the steps of some windows over it, and an empty memory for every technique."""

    def __init__(self, component: str, ranges: Sequence[int], slides: int) -> None:
        self.component, self.longest = component, max(ranges)
        events = self.longest - 1 + slides
        self.windows = [Window(length, 1) for length in ranges]
        self.capacity = 1 << max(4, int(self.longest).bit_length() + 1)
        values = np.random.default_rng(1).integers(0, 1_000_000, events).astype(np.float64)
        self.values = values
        self.op = OPS[component, "float64"]
        self.rows = np.require(lift(self.op, values), requirements=["C", "W"])
        clock = make_clock(self.windows, BEGINNING, self.capacity)
        offsets, starts = np.array([0, events]), np.arange(events)
        steps = schedule_groups(clock, offsets, starts, self.longest - 1, events)
        self.steps = Steps(*(column[1:] for column in steps))  # the first one resets a memory, which is new here
        self.slides, self.per_slide = slides, 1 + len(ranges)  # steps: an event, and the windows that end with it
        self.answers = slides * len(ranges)

    def memory(self, technique: str) -> Memory:
        """Return an empty memory with room for the longest window."""
        ranges, slots = np.unique([window.range for window in self.windows], return_inverse=True)
        make = EVERY[technique].make
        return make(self.op | FLOAT, ranges.astype(np.int64), slots.astype(np.int64), self.capacity)

    def full_memory(self, technique: str) -> Memory:
        """Return a memory in which the longest window lacks one event."""
        memory, before = self.memory(technique), self.longest - 1
        self._advance(technique, memory, slice(0, before), slice(0, before), np.empty((0, self.rows.shape[1])))
        return memory

    def rate(self, technique: str) -> float:
        """Return slides per CPU second, of as many slides as fit into the time."""
        memory, done, spent, chunk = self.full_memory(technique), 0, 0.0, FIRST_CHUNK
        fill, cycle = self.longest - 1, min(self.longest, self.slides)
        while done < self.slides and spent < (LEAST_SECONDS if done >= cycle else MOST_SECONDS):
            count = min(chunk, self.slides - done)
            steps = slice(fill + done * self.per_slide, fill + (done + count) * self.per_slide)
            out = np.empty((count * len(self.windows), self.rows.shape[1]))
            started = process_time()
            self._advance(technique, memory, steps, slice(fill + done, fill + done + count), out)
            spent += process_time() - started
            done, chunk = done + count, 2 * chunk
        return done / spent

    def _advance(self, technique: str, memory: Memory, steps: slice, rows: slice, out: Any) -> None:
        some = Steps(*(column[steps] for column in self.steps))
        EVERY[technique].advance(memory, some, self.rows[rows].view(np.int64), out.view(np.int64))


def techniques_for(component: str) -> list[str]:
    """Return the techniques that may answer a component, in the order of the legend."""
    names = [name for name in NAMES if name in KERNELS and allowed(name, component)]
    return [*names, "plain_float"] if component == "sum" else names


def measure(size: Size, progress: Progress) -> list[Figure]:
    """Return experiments 1 to 4."""
    figures = []
    asked = size.of((4, 64), tuple(4**n for n in range(13)), (*(4**n for n in range(14)), 2**27))
    windows = [window for window in asked if EVENT_BYTES * window < free_bytes()]
    if len(windows) < len(asked):
        progress(f"no memory for windows of more than {windows[-1]:,} events")
    for number, component in ((10, "sum"), (11, "max")):
        progress(f"experiment 1: one {component} over windows of up to {windows[-1]:,} events")
        figures.append(single_figure(number, component, windows, size.of(2_000, 1_000_000, 4_000_000)))
    for number, component in ((12, "sum"), (13, "max")):
        progress(f"experiment 2: a {component} over every range up to the window")
        figures.append(
            multi_figure(
                number, component, size.of((4, 16), (1, 4, 16, 64, 256, 1_024, 4_096), tuple(4**n for n in range(8)))
            )
        )
    progress("experiment 3: latency of an answer")
    figures.append(latency_figure(size.of(64, 1_024, 1_024), size.of(5_000, 1_000_000, 1_000_000)))
    progress("experiment 4: memory")
    return [*figures, memory_figure([window for window in windows if window in size.of({64}, MEMORY, MEMORY)])]


def free_bytes() -> int:
    """Return the bytes of memory that nobody uses."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))


def single_figure(number: int, component: str, windows: Sequence[int], slides: int) -> Figure:
    """Return answers per second of one query by window size."""
    points: Points = {}
    for window in windows:
        prepared = Prepared(component, [window], slides + window)
        for technique in techniques_for(component):
            points.setdefault(NAMES[technique], []).append((window, prepared.rate(technique)))
    title = f"Figure {number}: one {component} over the window, after every event"
    readings = gain_readings(f"single_{component}", component, points)
    return Figure(f"edbt-{number}", title, "window (events)", "answers per second", points, readings)


def multi_figure(number: int, component: str, windows: Sequence[int]) -> Figure:
    """Return slides per second of a query for every range from 1 to the window."""
    points: Points = {}
    for window in windows:
        prepared = Prepared(component, range(1, window + 1), max(64, 1_000_000 // window))
        for technique in techniques_for(component):
            if technique not in ONE_RANGE:
                points.setdefault(NAMES[technique], []).append((window, prepared.rate(technique)))
    title = f"Figure {number}: a {component} over every range from 1 to the window, after every event"
    readings = gain_readings(f"multi_{component}", component, points)
    note = "TwoStacks and DABA answer one range; the engine's own blocks take slides by the thousand, not one by one."
    axes = ("window (events), and queries", "slides per second")
    return Figure(f"edbt-{number}", title, *axes, points, readings, note=note)


def gain_readings(key: str, component: str, points: Points) -> list[Reading]:
    """Return how much more SlickDeque does than the best of the paper's other techniques, mean and largest."""
    gains, windows = gains_of(SLICK[component], points), [window for window, _ in points[NAMES[SLICK[component]]]]
    grown = f"{gains[0]:.2f} times at {windows[0]:,} event, {gains[-1]:.2f} at {windows[-1]:,}"
    whys = [f"{grown}; the paper goes on to 134 million"] * 2
    if component == "sum":
        printed = gains_of("plain_float", points)
        whys = [AS_PRINTED.format(mean(printed)), AS_PRINTED.format(max(printed))]
    return [Reading(f"{key}_mean", mean(gains), whys[0]), Reading(f"{key}_most", max(gains), whys[1])]


def gains_of(technique: str, points: Points) -> list[float]:
    """Return by window how many times more a technique does than the best of the others that the paper measures."""
    others = [dict(points[NAMES[name]]) for name in PAPERS - set(SLICK.values()) if NAMES[name] in points]
    return [rate / max(line[window] for line in others if window in line) for window, rate in points[NAMES[technique]]]


_LIBC = ctypes.CDLL(None)
_clock_gettime = _LIBC.clock_gettime
_clock_gettime.argtypes = [ctypes.c_int, ctypes.c_void_p]
_clock_gettime.restype = ctypes.c_int
MONOTONIC = 1
MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1  # parameters of mallopt
MEMORY = {4**6, 4**8, 4**10, 4**12}  # windows of experiment 4


@njit
def _latencies(insert: Any, query: Any, memory: Memory, steps: Steps, rows: Any, out: Any, took: Any) -> None:
    """Take the steps, and note the nanoseconds from an event's arrival to its answer."""
    i = k = 0
    stamp = np.zeros(2, np.int64)
    began = 0
    for step in range(len(steps.query)):
        q = steps.query[step]
        if q == INSERT:
            _clock_gettime(MONOTONIC, stamp.ctypes)
            began = stamp[0] * 1_000_000_000 + stamp[1]
            begin_slide(memory, steps.start[step], steps.first[step])
            insert(memory, rows, i)
            i += 1
        else:
            query(memory, memory.slot_of_query[q], steps.first[step], out, k)
            _clock_gettime(MONOTONIC, stamp.ctypes)
            took[k] = stamp[0] * 1_000_000_000 + stamp[1] - began
            k += 1


def latency_figure(window: int, slides: int) -> Figure:
    """Return the quartiles of the nanoseconds per answer; as in the paper, the highest 0.005% are left out."""
    points: Points = {}
    for technique in NAMES:
        component = "sum" if technique in SUMS_ONLY else "max"
        prepared = Prepared(component, [window], slides)
        module = plain_float if technique == "plain_float" else import_module(f"jobs.kernels.techniques.{technique}")
        insert = getattr(module, "insert", store)  # a technique that only keeps the partials has none
        out = np.empty((prepared.answers, prepared.rows.shape[1]))
        runs = np.full((RUNS, prepared.answers), np.iinfo(np.int64).max)
        for took in (runs[0], *runs):  # the first run compiles
            _latencies(
                insert, module.query, prepared.memory(technique), prepared.steps,
                prepared.rows.view(np.int64), out.view(np.int64), took,
            )  # fmt: skip
        took = runs.min(axis=0)
        kept = np.sort(took)[: max(1, int(len(took) * 0.99995))]
        least, low, middle, high, most = np.percentile(kept, (0, 25, 50, 75, 100))
        values = (least, low, middle, high, kept.mean(), most)
        points[NAMES[technique]] = [(float(place), float(value)) for place, value in enumerate(values)]
    readings = latency_readings(points)
    note = (
        f"Nanoseconds from an event's arrival to its answer, reading the clock twice included; {slides:,} answers, "
        f"each by the least of {RUNS} runs over the same events, so that no interruption by the system counts."
    )
    title = f"Figure 14: latency of an answer, window of {window:,} events"
    axes = ("latency", "nanoseconds")
    return Figure("edbt-14", title, *axes, points, readings, log_x=False, note=note, labels=list(CATEGORIES))


def latency_readings(points: Points) -> list[Reading]:
    """Return how much longer the best of the others takes, and the longest answer of DABA against SlickDeque's."""
    readings = []
    for key, name in (("latency_noninv", "slick_deque_noninv"), ("latency_inv", "slick_deque_inv")):
        printed = mean(_shorter("plain_float", points))
        readings.append(
            Reading(key, mean(_shorter(name, points)), AS_PRINTED.format(printed) if key == "latency_inv" else "")
        )
    longest = {name: points[NAMES[name]][-1][1] for name in ("daba", *SLICK.values())}
    return [*readings, Reading("latency_spike", longest["daba"] / mean(longest[name] for name in SLICK.values()))]


def _shorter(technique: str, points: Points) -> list[float]:
    """Return by category, but for the longest, how many times longer the best of the others takes."""
    others = [points[NAMES[name]] for name in PAPERS - set(SLICK.values())]
    own = points[NAMES[technique]][:-1]
    return [min(line[place][1] for line in others) / value for place, (_, value) in enumerate(own)]


def memory_figure(windows: Sequence[int]) -> Figure:
    """Return the bytes that a process adds while a technique takes in a whole window and answers one query."""
    points: Points = {}
    for window in windows:
        for technique, name in NAMES.items():
            points.setdefault(name, []).append((window, float(added_bytes(technique, window))))
    note = "Bytes that a process of its own writes to for the state of one query, its events and answers left out."
    others = [dict(points[NAMES[name]]) for name in PAPERS - set(SLICK.values())]
    slick = points[NAMES["slick_deque_noninv"]]
    times = [min(line[window] for line in others) / own for window, own in slick]
    readings = [Reading("memory_mean", mean(times), DEQUE), Reading("memory_most", max(times), DEQUE)]
    return Figure("edbt-15", "Figure 15: memory by window", "window (events)", "bytes", points, readings, note=note)


def added_bytes(technique: str, window: int) -> int:
    """Return how many bytes of memory a new process makes its own while it fills the state of a technique."""
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_send_added_bytes, args=(technique, window, theirs))
    child.start()
    theirs.close()
    added = int(ours.recv())
    child.join()
    return added


def _send_added_bytes(technique: str, window: int, connection: Any) -> None:
    for threshold in (MMAP_THRESHOLD, TRIM_THRESHOLD):  # else freed memory is taken again, and zeroed by writing to it
        _LIBC.mallopt(threshold, 1 << 16)
    component = "sum" if technique in SUMS_ONLY else "max"
    Prepared(component, [4], 2).full_memory(technique)  # what a first call touches is no state
    prepared = Prepared(component, [window], 2)
    _LIBC.malloc_trim(0)
    before = _own_bytes()
    memory = prepared.full_memory(technique)
    connection.send(_own_bytes() - before)
    del memory


def _own_bytes() -> int:
    """Return the bytes that this process has written to and shares with no other."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("Private_Dirty"))
