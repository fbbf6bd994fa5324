"""Which trees of a new plan carry on with the retained slices, and which need the raw events again."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from jobs.engine.program.program import Grouping, Program, QueryProgram, TreeProgram
from jobs.engine.slices.exchange import label
from jobs.engine.warehouse.retained import RetainedSlices, RetainedTree
from optimizer.errors import HeddleError
from optimizer.plan.definition import EVENTS
from optimizer.windows.edges import Edges
from optimizer.windows.window import BEGINNING

MOST_EDGES = 100_000  # laid out to compare two trees; with more of them the raw events are read again


@dataclass(frozen=True)
class Source:
    """The retained slices that hold all a tree needs, and from when on; no slices when there are none such."""

    label: str = ""
    since: int = 1 << 62


def contains(edges: Edges, others: Edges) -> bool:
    """Whether every one of the other edges is an edge, too."""
    return all(_holds(edges, period, residue) for period, residue in others)


def _holds(edges: Edges, period: int, residue: int) -> bool:
    if any(period % own == 0 and (residue - at) % own == 0 for own, at in edges):
        return True
    span = math.lcm(period, *(own for own, _ in edges))
    if span // period > MOST_EDGES:
        return False
    times = range(residue, residue + span, period)
    return all(any((time - at) % own == 0 for own, at in edges) for time in times)


def held(grouping: Grouping, tree: TreeProgram, since: int = BEGINNING) -> RetainedTree:
    """What a tree's slices hold."""
    measures = tuple(f"{measure.key} by {measure.op} as {measure.coding}" for measure in tree.held)
    cut = "rows" if tree.rows else json.dumps([test.sql for test in tree.bits])
    return RetainedTree(grouping.name, cut, tree.edges, measures, tree.reach, since)


def needed_from(tree: TreeProgram, watermark: int) -> int:
    """Windows that a tree may still emit start here or later; rows are counted from the first event on."""
    return BEGINNING if tree.rows else max(BEGINNING, watermark - tree.reach + 1)


def source_of(standing: RetainedSlices, grouping: Grouping, tree: TreeProgram, watermark: int) -> Source:
    """The slices a tree can be folded from: its keys, at least its edges and its measures."""
    wanted = held(grouping, tree)
    alike = {
        name: each
        for name, each in standing.trees.items()
        if (each.grouping, each.cut) == (wanted.grouping, wanted.cut) and set(each.measures) >= set(wanted.measures)
    }
    if tree.rows:  # every row is kept by itself, whatever the edges
        found = [Source(name, BEGINNING) for name, each in alike.items() if each.reach >= tree.reach]
    else:
        fine = {name: each for name, each in alike.items() if contains(each.edges, wanted.edges)}
        found = [Source(name, each.complete_from(watermark)) for name, each in fine.items()]
    return min(found, key=lambda source: (source.since, source.label), default=Source())


def answered(program: Program) -> Iterator[tuple[str, QueryProgram]]:
    """Every query, with the label of the slices its answers come from."""
    every = {tree.id: (grouping, tree) for grouping in program.groupings for tree in grouping.trees}
    for grouping, tree in every.values():
        root = grouping, tree
        while root[1].feed != EVENTS:
            root = every[root[1].feed]
        for query in tree.queries:
            yield label(*root), query


def begun(program: Program) -> RetainedSlices:
    """Where a new warehouse stands: everything is there from the beginning."""
    trees = {label(grouping, tree): held(grouping, tree) for grouping, tree in program.roots()}
    labels = [query.label for _, query in answered(program)] + [query.label for query in program.unshared]
    return RetainedSlices(trees, dict.fromkeys(labels, BEGINNING))


def serves(standing: RetainedSlices, program: Program) -> bool:
    """Whether the slices are just those that the program keeps, for the very queries it answers."""
    wanted = begun(program)
    kept = {name: replace(each, since=BEGINNING) for name, each in standing.trees.items()}
    return kept == wanted.trees and standing.answered_after.keys() == wanted.answered_after.keys()


def asked_after(standing: RetainedSlices, program: Program, sinces: dict[str, int], watermark: int) -> dict[str, int]:
    """From when on every query is answered: those that were there carry on, new ones begin with the next window."""
    asked = {}
    for name, query in answered(program):
        before, reaches = standing.answered_after.get(query.label), sinces[name]
        complete = reaches + query.window.range - 1 if reaches > BEGINNING else BEGINNING
        if query.window.rows and reaches > BEGINNING:
            raise HeddleError(
                f"query {query.id}: its rows are counted from the first event on, and files that hold some of them are "
                "gone; leave the query out, or restore the files"
            )
        if before is not None and complete > max(before, watermark):
            raise HeddleError(
                f"query {query.id}: the new plan has to read its events again, and files that hold some of them are "
                "gone; keep the plan in force, or restore the files"
            )
        asked[query.label] = max(watermark, complete) if before is None else before
    return asked


def unshared_after(standing: RetainedSlices, program: Program, raw_since: int, watermark: int) -> dict[str, int]:
    """The same of the queries that plain Spark answers from the raw events, of which those since a time are there."""
    asked = {}
    for query in program.unshared:
        complete = raw_since + query.window.range - 1 if raw_since > BEGINNING else BEGINNING
        asked[query.label] = standing.answered_after.get(query.label, max(watermark, complete))
    return asked
