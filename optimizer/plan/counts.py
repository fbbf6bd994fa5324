"""What the engine does for a plan, counted before it does it; the engine counts the same things by the same names.

Every count is a function of the plan and of the stream: its rate, how many keys are active in a span of time, and how
long a batch is. `count_tree` counts one tree, `count_stream` what is done once for all trees.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from optimizer.plan.answers import EVERYTHING, Answers, folded_demands
from optimizer.plan.counters import (
    CELL,
    CHAINED,
    CHUNKED,
    EVENT,
    GUESSED,
    KEYED,
    LEVEL,
    LEVELLED,
    LOADED,
    MADE,
    MASKED,
    MERGED,
    OPENED,
    PARTIAL,
    RAGGED,
    RAGGED_FOLD,
    READ,
    REWRITTEN,
    ROLLED,
    SAVED,
    SIGNED,
    SLICE,
    SORTED,
    TESTED,
    UNFOLDED,
)
from optimizer.plan.definition import EVENTS, Tree
from optimizer.plan.forest import Forest

RESULT_FILES = 16  # that are merged: MERGE_AT of jobs/engine/warehouse/result_files.py


def most_dense_cells(entries: float) -> float:
    """Return the most cells for which a dense table is laid out, given how many events or partials fall into them.

    More cells than four per entry would mostly be empty memory, so they are sorted instead.


    >>> most_dense_cells(10_000)
    105536
    """
    return 4 * entries + 65_536


def count_stream(forest: Forest) -> dict[str, float]:
    """Return what is done once for all trees, per second of the stream."""
    trees, rate = forest.trees.values(), forest.traffic.rate
    columns = {name for tree in trees for name in tree.group_by}
    measures = {measure for tree in trees for measure in tree.measures}
    arguments = {argument for measure in measures for argument in measure.arguments if measure.arguments != EVERYTHING}
    wheres = {measure.where for measure in measures} - {""}
    fed = [tree for tree in trees if tree.feed == EVENTS and not tree.windows.rows]
    keyed = {tree.group_by for tree in fed if tree.group_by}
    files = forest.traffic.files
    reads = rate * (1 + len(columns) + len(arguments))
    return {OPENED: files, EVENT: rate, READ: reads, TESTED: rate * len(wheres), KEYED: rate * len(keyed)}


def count_tree(tree: Tree, forest: Forest) -> dict[str, float]:
    """Return what is done for one tree, per second of the stream."""
    counts: dict[str, float] = defaultdict(float)
    for name, count in _root(tree, forest) if forest.root(tree) is tree else _level(tree, forest):
        counts[name] += count
    if tree.queries:
        for name, count in Answers(tree, forest).counts():
            counts[name] += count
    return {name: count for name, count in counts.items() if count}


def _level(tree: Tree, forest: Forest) -> Iterator[tuple[str, float]]:
    """Yield what it takes to fold a level: a slice of the feeder is folded in every batch that it takes part in."""
    feeder, demands = forest.trees[tree.feed], folded_demands(tree)
    read, made = (
        forest.per_second(tree, [forest.columns(each, batch) for batch in forest.batches(tree)])
        for each in (feeder, tree)
    )
    ragged = made * float(forest.ragged(feeder, np.array([1 / float(tree.edge_rate)]))[0])
    yield LEVELLED, read
    yield LEVEL, read * len(demands)
    yield RAGGED, ragged
    yield RAGGED_FOLD, ragged * sum(demand.measure.component != "count" for demand in demands)


def _root(tree: Tree, forest: Forest) -> Iterator[tuple[str, float]]:
    """Yield what it takes to make, keep and load the slices of a tree that is no level."""
    feeder, shards = forest.feeder(tree), tree.shards if tree.sharded else None
    demands = folded_demands(tree)
    own = {demand.measure for demand in demands if demand.technique}
    own |= {demand.measure for level in forest.levels[tree.id] for demand in folded_demands(level)}
    columns = len({(d.measure.component, d.measure.arguments) for d in demands}) if shards else len(own)
    if feeder is None:
        yield from _fed_by_events(tree, forest, columns)
    else:
        yield ROLLED, forest.slices_or_shards(feeder) * (1 + (columns if shards else len(demands)))
    batches, rates = forest.batches(tree), forest.kept_rates(tree)
    read = forest.per_second(tree, [batch.read(rates) for batch in batches])
    yield SLICE, forest.slices_or_shards(tree)
    yield MADE, forest.slices_or_shards(tree) * columns
    yield LOADED, columns * forest.per_second(tree, [float(batch.loaded @ rates) for batch in batches])
    yield MERGED, columns * (read + forest.per_second(tree, [float(batch.folded @ rates) for batch in batches]))
    yield SAVED, columns * forest.per_second(tree, [float(batch.saved @ rates) for batch in batches])
    reaches = [level.reach / forest.ticks(tree) for level in forest.levels_of(tree)]
    kept = sum(batch.step.weight for batch in batches)
    added = sum((batch.step.weight * batch.saved * rates for batch in batches), np.zeros(len(rates)))
    added /= max(kept, 1e-300) * forest.buckets(tree)
    rewrites = np.array([forest.schedule.rewrites(rows, reach) for rows, reach in zip(added, reaches, strict=True)])
    yield REWRITTEN, columns * forest.per_second(tree, [float(batch.saved * rewrites @ rates) for batch in batches])
    chunked = len(reaches) - 1
    closing = forest.per_second(tree, [float(chunked * (len(batch.spans) > 0)) for batch in batches])
    yield CHUNKED, closing * forest.buckets(tree)
    if shards:
        more = len(own) / max(len({measure for measure in own if measure in tree.measures}), 1)
        yield UNFOLDED, read * shards.beta * shards.measures * more


def _fed_by_events(tree: Tree, forest: Forest, columns: int) -> Iterator[tuple[str, float]]:
    """Yield what it takes to fold the events into the slices of a tree, or into shards that hold so many measures."""
    rate, demands = forest.traffic.rate, folded_demands(tree)
    yield SORTED if forest.possible_cells(tree) > most_dense_cells(rate * forest.schedule.batch) else CELL, rate
    folds = rate * columns
    if tree.sharded:
        yield SIGNED, rate
    else:
        folds = sum(rate * forest.traffic.share(demand.measure.where) for demand in demands)
        shares = [forest.traffic.share(demand.measure.where) for demand in demands if demand.measure.where]
        yield MASKED, rate * len(shares)
        yield GUESSED, rate * sum(min(share, 1 - share) for share in shares)
    yield PARTIAL, folds
    yield CHAINED, folds / forest.keys_and_signatures(tree)
