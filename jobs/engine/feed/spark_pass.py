"""Aggregation: one pass of Spark's own groupBy over the events of a grouping, as fine as all its trees need."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from jobs.engine.events.columns import Events
from jobs.engine.events.keys import key_codes
from jobs.engine.events.signatures import signed
from jobs.engine.program.program import ALL, Grouping, Input, MeasureProgram, Program
from jobs.engine.slices.cells import cells_of
from jobs.engine.slices.roll_up import Feed, feeds
from jobs.kernels.algebra.operators import MOMENTS, SUM_FLOAT, SUM_INT
from jobs.kernels.slices.edges import edges_between
from optimizer.windows.edges import Edges

SLOTS = 1 << 16  # of a lookup array
WORD = 62  # predicates of a signature in one bigint
COLUMNS = 96  # aggregates of one pass: Spark's generated code is slow beyond
PASSES = 3  # over the same events; more cost as much as folding each event once
PARTS = {SUM_INT: 2, SUM_FLOAT: 2, MOMENTS: 4}  # columns of a measure, where there are several


@dataclass(frozen=True)
class Aggregation:
    """The trees of one grouping that read raw events, and what one pass makes for all of them."""

    grouping: Grouping
    feeds: tuple[Feed, ...]

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The group-by columns."""
        return tuple(name for name in self.grouping.keys if name != ALL)

    @cached_property
    def edges(self) -> Edges:
        """The edges of all trees together."""
        return tuple(sorted({edge for feed in self.feeds for edge in feed.tree.edges}))

    @cached_property
    def measures(self) -> tuple[MeasureProgram, ...]:
        """What all trees hold and lend."""
        found = {measure.key: measure for feed in self.feeds for measure in feed.held}
        return tuple(found[key] for key in sorted(found))

    @cached_property
    def bits(self) -> tuple[Input, ...]:
        """The predicates that shards tell apart."""
        found = {test.name: test for feed in self.feeds for test in feed.tree.bits}
        return tuple(found[name] for name in sorted(found))


def aggregations(program: Program) -> list[Aggregation]:
    """A pass for every grouping whose trees read raw events; those rolled up from another's come later."""
    mine: dict[str, list[Feed]] = {}
    for feed in feeds(program):
        if not feed.finer:
            mine.setdefault(feed.grouping.name, []).append(feed)
    return [Aggregation(found[0].grouping, tuple(found)) for found in mine.values()]


def why_not(program: Program) -> str:
    """Why Spark's own aggregates would not give the partials, exactly and sooner; "" when they do."""
    passes = aggregations(program)
    if not passes:
        return "no query is woven"
    if program.in_rows:
        return "some windows are measured in rows"
    if len(passes) > PASSES:
        return f"{len(passes)} groupings would take as many passes"
    for found in passes:
        carrying = [measure.key for measure in found.measures if measure.carries]
        if carrying:  # Spark sorts for these, and leaves open which of several equal events wins
            return f"{carrying[0]} carries a value along"
        if sum(PARTS.get(measure.op, 1) for measure in found.measures) > COLUMNS:
            return f"{len(found.measures)} measures are too many for one pass"
    return ""


def cut(edges: Edges) -> tuple[int, int, list[int]]:
    """How to find a slice: slots of this length, this many time units in a round, and the start of each slot's slice.

    Without starts, every slot is a slice of its own: finer than the edges, and never across one."""
    slot = math.gcd(*(number for edge in edges for number in edge))
    composite = math.lcm(*(period for period, _ in edges))
    if composite // slot > SLOTS:
        return slot, slot, []
    laid_out = edges_between(edges, 0, composite - 1)
    starts, current = [], 0
    for number in range(composite // slot):
        while current + 1 < len(laid_out) and laid_out[current + 1] <= number * slot:
            current += 1
        starts.append(int(laid_out[current]))
    return slot, composite, starts


def count_partials(events: Events, found: Aggregation) -> int:
    """How many partials the events would become."""
    keys = key_codes(events.keys.select(list(found.grouping.keys)))
    if found.bits:
        keys = signed(keys, events.signatures_of([test.name for test in found.bits]))
    slot, _, starts = cut(found.edges)
    edges = found.edges if starts else ((slot, 0),)
    return len(cells_of(edges, events.times, keys.codes, keys.distinct.num_rows).code)
