"""The slow, obvious oracle: windows, edges, costs and answers, written to be checked by reading.

Pure Python: fractions, sets and dicts. Nothing here is fast, and nothing here shares code with what it checks.
What one window holds is in naive_aggregates.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from optimizer.windows.window import Window
from tests.oracle.naive_aggregates import Event, Expression, aggregate_of

Tree = Sequence[Window]
Answers = dict[tuple[tuple[Any, ...], int], Any]  # (key, window start) -> value
Late = list[tuple[Event, int]]  # the event, and how many of its windows missed it

# ---------------------------------------------------------------------------- edges


def composite_slide(windows: Iterable[Window]) -> int:
    return math.lcm(*(window.slide for window in windows))


def edges(windows: Sequence[Window], slicing: str = "pairs", period: int = 0) -> set[int]:
    """Every edge in one composite slide, modulo the composite slide."""
    period = period or composite_slide(windows)
    found: set[int] = set()
    for window in windows:
        step = math.gcd(window.range, window.slide) if slicing == "panes" else window.slide
        found.update(range(window.offset % step, period, step))
        if slicing == "pairs":
            found.update(range((window.offset + window.range) % step, period, step))
    return found


def edge_rate(windows: Sequence[Window], slicing: str = "pairs") -> Fraction:
    return Fraction(len(edges(windows, slicing)), composite_slide(windows))


def weaveability(a: Sequence[Window], b: Sequence[Window]) -> Fraction:
    """The share of the edges of both that are common to both."""
    period = composite_slide([*a, *b])
    of_a, of_b = edges(a, period=period), edges(b, period=period)
    return Fraction(len(of_a & of_b), len(of_a | of_b))


# ---------------------------------------------------------------------------- cost


def floor_log2(value: Fraction) -> int:
    """floor(log2(value)), exactly."""
    power = 0
    while Fraction(2) ** (power + 1) <= value:
        power += 1
    while Fraction(2) ** power > value:
        power -= 1
    return power


def flat_fat_operations(partials: Fraction) -> Fraction:
    if partials <= 1:
        return Fraction(0)
    return max(0, floor_log2(partials - 1)) + (partials - 1) / Fraction(2) ** floor_log2(partials)


def noninv_operations(queries: int, most_partials: Fraction) -> Fraction:
    terms = min(max(1, round(most_partials)), 60)  # 1/61! is below anything a float can show beside 1
    series = sum(Fraction(1, math.factorial(i)) for i in range(1, terms + 1))
    return 2 - 2 / max(Fraction(1), most_partials) + queries + series


def omega(tree: Tree, technique: str) -> Fraction:
    """Final operations per edge of a tree; windows that are equal are answered once."""
    windows = set(tree)
    rate = edge_rate(tree)
    partials = [window.range * rate for window in windows]
    match technique:
        case "panes":
            return sum((Fraction(window.range, window.slide) for window in windows), Fraction(0))
        case "flat_fat" | "b_int":
            return sum(map(flat_fat_operations, partials), Fraction(0))
        case "flat_fit" | "two_stacks" | "two_stacks_block":
            return Fraction(3 * len(windows))
        case "daba":
            return Fraction(5 * len(windows))
        case "slick_deque_inv" | "panes_inv":
            return Fraction(2 * len({window.range for window in windows}))
        case "slick_deque_noninv":
            return noninv_operations(len(windows), max(partials))
    raise KeyError(technique)


def finals(partition: Sequence[Tree], technique: str) -> Fraction:
    return sum((edge_rate(tree) * omega(tree, technique) for tree in partition), Fraction(0))


def weave_share_cost(partition: Sequence[Tree], rate: Fraction, technique: str) -> Fraction:
    """m*lambda + sum E_i * Omega_i."""
    return len(partition) * rate + finals(partition, technique)


def tri_weave_cost(partition: Sequence[Tree], rate: Fraction, technique: str) -> Fraction:
    """lambda, E_all for each tree that is not itself the union of all edges, and the finals."""
    e_all = edge_rate([window for tree in partition for window in tree])
    feeds = sum((e_all for tree in partition if edge_rate(tree) != e_all), Fraction(0))
    return rate + feeds + finals(partition, technique)


def cascade_cost(partition: Sequence[Tree], rate: Fraction, technique: str) -> Fraction:
    """Every tree reads the events or a tree whose edges strictly contain its own; with or without a union root."""
    everything = [window for tree in partition for window in tree]
    period = composite_slide(everything)
    sets = [edges(tree, period=period) for tree in partition]
    rooted = [*sets, edges(everything, period=period)]

    def feeds(nodes: list[set[int]]) -> Fraction:
        return sum((min([rate, *(Fraction(len(u), period) for u in nodes if u > node)]) for node in nodes), Fraction(0))

    return min(feeds(sets), feeds(rooted)) + finals(partition, technique)


COSTS = {"weave_share": weave_share_cost, "tri_weave": tri_weave_cost, "cascade": cascade_cost}


def partitions(windows: Sequence[Window]) -> Iterator[list[list[Window]]]:
    """Every way to share windows among trees (Bell's number of them)."""
    if not windows:
        yield []
        return
    first, *rest = windows
    for partition in partitions(rest):
        yield [[first], *partition]
        for i, tree in enumerate(partition):
            yield [*partition[:i], [first, *tree], *partition[i + 1 :]]


def best_partition(
    windows: Sequence[Window], rate: Fraction, technique: str, model: str = "weave_share"
) -> tuple[Fraction, list[list[Window]]]:
    """The cheapest of all partitions, and what it costs."""
    priced = ((COSTS[model](partition, rate, technique), partition) for partition in partitions(windows))
    return min(priced, key=lambda pair: pair[0])


# ---------------------------------------------------------------------------- answers


def starts(tick: int, window: Window) -> list[int]:
    """The starts of every window that holds the tick, first to last."""
    last = (tick - window.offset) // window.slide * window.slide + window.offset
    first_misses = last
    while first_misses + window.range > tick:
        first_misses -= window.slide
    return list(range(first_misses + window.slide, last + 1, window.slide))


def key_of(event: Event, keys: Sequence[str]) -> tuple[Any, ...]:
    """The event's group; one NaN for all, so that a dict groups keys as Spark does."""
    return tuple(math.nan if event[key] != event[key] else event[key] for key in keys)


def clock(events: Sequence[Event], window: Window, keys: Sequence[str]) -> list[tuple[Event, int]]:
    """Every event with its tick: its time, or its row number among all rows of its key in event-time order."""
    timed = [event for event in events if event["ts"] is not None]
    if not window.rows:
        return [(event, event["ts"]) for event in timed]
    seen: dict[tuple[Any, ...], int] = {}
    numbered = []
    for event in sorted(timed, key=lambda event: event["ts"]):
        key = key_of(event, keys)
        seen[key] = seen.get(key, -1) + 1
        numbered.append((event, seen[key]))
    return numbered


def contents(
    events: Sequence[Event], window: Window, keys: Sequence[str] = (), where: Callable[[Event], Any] | None = None
) -> dict[tuple[tuple[Any, ...], int], list[Event]]:
    """The rows of every window that holds at least one event that passes the predicate (null does not pass)."""
    held: dict[tuple[tuple[Any, ...], int], list[Event]] = {}
    for event, tick in clock(events, window, keys):
        if where is None or where(event):
            for start in starts(tick, window):
                held.setdefault((key_of(event, keys), start), []).append(event)
    return held


def answers(
    events: Sequence[Event],
    aggregate: str,
    window: Window,
    keys: Sequence[str] = (),
    x: Expression = "x",
    y: Expression = "y",
    where: Callable[[Event], Any] | None = None,
) -> Answers:
    """Every window of the query over all events, as one batch query of Spark gives them: {(key, start): value}."""
    held = contents(events, window, keys, where)
    return {place: aggregate_of(rows, aggregate, x, y) for place, rows in held.items()}


def answers_in_batches(
    batches: Sequence[Sequence[Event]],
    aggregate: str,
    window: Window,
    lateness: int,
    keys: Sequence[str] = (),
    x: Expression = "x",
    y: Expression = "y",
    where: Callable[[Event], Any] | None = None,
) -> tuple[list[Answers], Late]:
    """What every batch emits, and the late events, each with the number of windows that missed it.

    An event is late for the windows that the watermark of the batches before its own has passed. A batch ends by
    emitting the windows that the watermark, moved on by its events, passes for the first time.
    """
    watermark = -math.inf
    open_windows: dict[tuple[tuple[Any, ...], int], list[Event]] = {}
    emitted: list[Answers] = []
    late: Late = []
    for batch in batches:
        for event in batch:
            if event["ts"] is None or (where is not None and not where(event)):
                continue
            missed = 0
            for start in starts(event["ts"], window):
                if start + window.range <= watermark:
                    missed += 1
                else:
                    open_windows.setdefault((key_of(event, keys), start), []).append(event)
            if missed:
                late.append((event, missed))
        watermark = max([watermark, *(event["ts"] - lateness for event in batch if event["ts"] is not None)])
        ended = sorted({place for place in open_windows if place[1] + window.range <= watermark}, key=repr)
        emitted.append({place: aggregate_of(open_windows.pop(place), aggregate, x, y) for place in ended})
    return emitted, late
