"""What the slices of a plan hold, and which trees of a new plan can carry on with the slices of the old one."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from jobs.engine.program.program import Grouping, Program, QueryProgram, TreeProgram, Unshared
from jobs.engine.program.queries import frame_labels
from jobs.engine.slices.exchange import chunk_label, label
from jobs.engine.warehouse.state_files import RetainedSlices, RetainedTree
from optimizer.errors import HeddleError
from optimizer.plan.definition import EVENTS
from optimizer.windows.edges import Edges
from optimizer.windows.window import BEGINNING

MOST_EDGES = 100_000  # laid out to compare two trees; with more of them the raw events are read again


@dataclass(frozen=True)
class Source:
    """The label of retained slices that hold all a tree needs, and from when on; without a label there are none.

    `levels` names, for every level of the tree, the old slices or chunks that it is folded from."""

    label: str = ""
    since: int = 1 << 62
    levels: tuple[str, ...] = ()


def contains(edges: Edges, others: Edges) -> bool:
    """Return whether every one of the other edges is an edge, too; edges are (period, residue).

    >>> contains(((2, 0),), ((6, 0), (4, 2)))
    True
    >>> contains(((2, 0), (3, 0)), ((6, 1),))
    False
    """
    return all(_contains_one(edges, period, residue) for period, residue in others)


def _contains_one(edges: Edges, period: int, residue: int) -> bool:
    if any(period % own == 0 and (residue - at) % own == 0 for own, at in edges):
        return True
    span = math.lcm(period, *(own for own, _ in edges))
    if span // period > MOST_EDGES:
        return False
    times = range(residue, residue + span, period)
    return all(any((time - at) % own == 0 for own, at in edges) for time in times)


def retained_slices_of(grouping: Grouping, tree: TreeProgram, since: int = BEGINNING) -> RetainedTree:
    """Return what the slices of a tree hold when all events since a time are in them."""
    codings = {"ranked": "text"}  # as manifests have called it since texts alone were ranked
    measures = tuple(
        f"{measure.key} by {measure.op} as {codings.get(measure.coding, measure.coding)}"
        for measure in tree.partial_measures
    )
    cut = "rows" if tree.rows else json.dumps([test.sql for test in tree.bits])
    cut += f" kept by {json.dumps(tree.kept_edges)}" if tree.kept_edges else ""
    return RetainedTree(grouping.name, cut, tree.edges, measures, tree.reach, since, tree.levels)


def retained_from_start(program: Program) -> RetainedSlices:
    """Return what a new warehouse retains: every tree and every query is there from the beginning."""
    trees = {label(grouping, tree): retained_slices_of(grouping, tree) for grouping, tree in program.roots()}
    labels = [query.label for _, query in _queries_by_slices(program)] + [query.label for query in program.unshared]
    return RetainedSlices(trees, dict.fromkeys(labels, BEGINNING), frame_labels(program.groupings))


def is_served_by(program: Program, retained: RetainedSlices) -> bool:
    """Return whether the retained slices are just those that the program keeps, for the very queries it answers."""
    own = retained_from_start(program)
    trees = {name: replace(tree, since=BEGINNING) for name, tree in retained.trees.items()}
    return trees == own.trees and retained.answered_after.keys() == own.answered_after.keys()


def needed_from(tree: TreeProgram, watermark: int) -> int:
    """Return where the first window starts that a tree may still emit; rows are counted from the first event on."""
    return BEGINNING if tree.rows else max(BEGINNING, watermark - tree.reach + 1)


def source_of(retained: RetainedSlices, grouping: Grouping, tree: TreeProgram, watermark: int) -> Source:
    """Return the slices a tree can be folded from: with its keys, at least its edges and at least its measures."""
    needed = retained_slices_of(grouping, tree)
    alike = {
        name: old
        for name, old in retained.trees.items()
        if (old.grouping, old.cut) == (needed.grouping, needed.cut) and set(old.measures) >= set(needed.measures)
    }
    if tree.rows:  # every row is kept by itself, whatever the edges
        sources = [Source(name, BEGINNING, (name,)) for name, old in alike.items() if old.reach >= tree.reach]
    else:
        folded = (_source_of_levels(name, old, tree, watermark) for name, old in alike.items())
        sources = [source for source in folded if source is not None]
    return min(sources, key=lambda source: (source.since, source.label), default=Source())


def _source_of_levels(name: str, old: RetainedTree, tree: TreeProgram, watermark: int) -> Source | None:
    """Return which old levels each level of a tree can be folded from; None where one has none."""
    since, names = old.since, []
    for number, level in enumerate(tree.levels):
        candidates = old.all_levels[: None if number else 1]  # only slices can still be open
        fine = [
            (watermark - older_level.reach + 1, chunk_label(name, older_level.edges, level_number))
            for level_number, older_level in enumerate(candidates)
            if contains(older_level.edges, level.edges)
        ]
        if not fine:
            return None
        enough = [choice for choice in fine if choice[0] <= level.since(watermark)]
        start, source = enough[-1] if enough else min(fine)  # the coarsest that reaches back far enough
        since = since if enough else max(since, start)
        names.append(source)
    return Source(name, since, tuple(names))


def answered_after(
    retained: RetainedSlices, program: Program, since: Mapping[str, int], watermark: int
) -> dict[str, int]:
    """Return the time after which each query is answered: old ones carry on, new ones begin with the next window.

    All events since a time are in the slices of each tree; refuse the plan where an old query would lose windows."""
    answered = {}
    for name, query in _queries_by_slices(program):
        before, complete = retained.answered_after.get(query.label), _complete_after(since[name], query)
        if query.window.rows and since[name] > BEGINNING:
            raise HeddleError(
                f"query {query.id}: its rows are counted from the first event on, and files that hold some of them are "
                "gone; leave the query out, or restore the files"
            )
        if before is not None and complete > max(before, watermark):
            raise HeddleError(
                f"query {query.id}: the new plan has to read its events again, and files that hold some of them are "
                "gone; keep the plan in force, or restore the files"
            )
        answered[query.label] = max(watermark, complete) if before is None else before
    return answered


def unshared_answered_after(
    retained: RetainedSlices, program: Program, raw_since: int, watermark: int
) -> dict[str, int]:
    """Return the time after which each query of plain Spark is answered, when the raw events since a time are there."""
    return {
        query.label: retained.answered_after.get(query.label, max(watermark, _complete_after(raw_since, query)))
        for query in program.unshared
    }


def _complete_after(since: int, query: QueryProgram | Unshared) -> int:
    """Return the time such that windows which end after it hold no event before `since`."""
    return since + query.window.range - 1 if since > BEGINNING else BEGINNING


def _queries_by_slices(program: Program) -> Iterator[tuple[str, QueryProgram]]:
    """Return every query with the label of the slices its answers come from: those of the root of its tree."""
    trees = {tree.id: (grouping, tree) for grouping in program.groupings for tree in grouping.trees}
    for grouping, tree in trees.values():
        root = grouping, tree
        while root[1].feed != EVENTS:
            root = trees[root[1].feed]
        for query in tree.queries:
            yield label(*root), query
