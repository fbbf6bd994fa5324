"""Roll-up: before the exchange, the partials of a coarser grouping are folded from those of a finer one.

What a tree's feed takes is counted here as the plan's model counts it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from jobs.engine.events.columns import Events
from jobs.engine.events.keys import key_codes, signature_column, unpack_signatures
from jobs.engine.program.program import NO_KEY, SIGNATURE, Grouping, MeasureProgram, Program, TreeProgram
from jobs.engine.slices.cells import Cells
from jobs.engine.slices.slices import Partials, Slices, merge
from jobs.kernels.slices.edges import slice_starts
from optimizer.plan.counters import CELL, CHAINED, GUESSED, MASKED, PARTIAL, SIGNED, SORTED


@dataclass(frozen=True)
class Feed:
    """A tree that keeps state, where its partials come from, and the trees that are rolled up from it in turn."""

    grouping: Grouping
    tree: TreeProgram
    finer: Feed | None = None
    coarser: Sequence[TreeProgram] = ()

    @property
    def folded_measures(self) -> tuple[MeasureProgram, ...]:
        """The measures that events are folded into: those of its own partials, and those it lends to coarser trees.

        >>> from jobs.kernels.algebra.operators import COUNT, MAX
        >>> count = MeasureProgram("count(*)", "count", COUNT, "int64", "", "", "")
        >>> largest = MeasureProgram("max(x)", "max", MAX, "int64", "x", "", "")
        >>> fine, coarse = (TreeProgram("t", ((10, 0),), "events", 10, (each,), (), {}) for each in (count, largest))
        >>> feed = Feed(Grouping(("k",), (pa.string(),), (fine,)), fine, None, [coarse])
        >>> [measure.key for measure in feed.folded_measures]
        ['count(*)', 'max(x)']
        """
        measures = {measure.key: measure for tree in (self.tree, *self.coarser) for measure in tree.partial_measures}
        return tuple(measures[key] for key in sorted(measures))

    @property
    def measures(self) -> tuple[MeasureProgram, ...]:
        """All measures that are made from its partials, in its own tree and in coarser ones.

        >>> from jobs.kernels.algebra.operators import COUNT
        >>> count = MeasureProgram("count(*)", "count", COUNT, "int64", "", "", "")
        >>> fine, coarse = (TreeProgram(id, ((10, 0),), "events", 10, (count,), (), {}) for id in "ab")
        >>> [measure.key for measure in Feed(Grouping(("k",), (pa.string(),), (fine,)), fine, None, [coarse]).measures]
        ['count(*)', 'count(*)']
        """
        return tuple(measure for tree in (self.tree, *self.coarser) for measure in tree.measures)

    @property
    def reach(self) -> int:
        """How far back its events are needed: the longest range of all its windows.

        >>> fine, coarse = (TreeProgram("t", ((10, 0),), "events", reach, (), (), {}) for reach in (20, 60))
        >>> Feed(Grouping(("k",), (pa.string(),), (fine,)), fine, None, [coarse]).reach
        60
        """
        return max(tree.reach for tree in (self.tree, *self.coarser))

    def without_lent(self, slices: Slices) -> Slices:
        """Return its slices without the measures that it only lends.

        >>> import numpy as np
        >>> from jobs.kernels.algebra.operators import COUNT, MAX, lift
        >>> count = MeasureProgram("count(*)", "count", COUNT, "int64", "", "", "")
        >>> largest = MeasureProgram("max(x)", "max", MAX, "int64", "x", "", "")
        >>> fine, coarse = (TreeProgram("t", ((10, 0),), "events", 10, (each,), (), {}) for each in (count, largest))
        >>> rows = {"count(*)": lift(COUNT, np.array([3])), "max(x)": lift(MAX, np.array([7]))}
        >>> slices = Slices(pa.table({"k": ["a"]}), np.array([0, 1]), np.array([0]), rows, {})
        >>> list(Feed(Grouping(("k",), (pa.string(),), (fine,)), fine, None, [coarse]).without_lent(slices).rows)
        ['count(*)']
        """
        if not self.coarser:
            return slices
        carried = {name for measure in self.tree.partial_measures for name in measure.columns}
        return replace(
            slices,
            rows={measure.key: slices.rows[measure.key] for measure in self.tree.partial_measures},
            carried={name: column for name, column in slices.carried.items() if name in carried},
        )


def feeds(program: Program) -> list[Feed]:
    """Return the trees that keep state, each after the one that it is rolled up from.

    >>> fine = TreeProgram("fine", ((10, 0),), "events", 10, (), (), {})
    >>> coarse = TreeProgram("coarse", ((20, 0),), "events", 20, (), (), {}, rolled_from="fine")
    >>> by_k = Grouping(("k",), (pa.string(),), (coarse,))
    >>> by_both = Grouping(("k", "i"), (pa.string(), pa.int64()), (fine,))
    >>> [feed.tree.id for feed in feeds(Program("ts", (), (), (by_k, by_both), 0, "", {}, {}))]
    ['fine', 'coarse']
    """
    roots = {tree.id: (grouping, tree) for grouping, tree in program.roots()}
    rolled: dict[str, list[TreeProgram]] = {}
    for _, tree in roots.values():
        rolled.setdefault(tree.rolled_from, []).append(tree)
    ordered: dict[str, Feed] = {}

    def add(id: str) -> Feed:
        if id not in ordered:
            grouping, tree = roots[id]
            finer = add(tree.rolled_from) if tree.rolled_from in roots else None
            ordered[id] = Feed(grouping, tree, finer, _coarser(rolled, id))
        return ordered[id]

    for id in roots:
        add(id)
    return list(ordered.values())


def _coarser(rolled: dict[str, list[TreeProgram]], id: str) -> list[TreeProgram]:
    direct = rolled.get(id, [])
    return direct + [below for tree in direct for below in _coarser(rolled, tree.id)]


def roll_up(finer: Slices, feed: Feed) -> Slices:
    """Return the partials of a feed, folded from those of the finer feed that it is rolled up from.

    >>> import numpy as np
    >>> from jobs.kernels.algebra.operators import COUNT, lift
    >>> count = MeasureProgram("count(*)", "count", COUNT, "int64", "", "", "")
    >>> fine, coarse = (TreeProgram("t", ((slide, 0),), "events", slide, (count,), (), {}) for slide in (10, 20))
    >>> by_both = Feed(Grouping(("k", "i"), (pa.string(), pa.int64()), (fine,)), fine)
    >>> by_k = Feed(Grouping(("k",), (pa.string(),), (coarse,)), coarse, by_both)
    >>> keys, rows = pa.table({"key k": ["a", "a"], "key i": [1, 2]}), {"count(*)": lift(COUNT, np.array([3, 4]))}
    >>> rolled = roll_up(Slices(keys, np.array([0, 1, 2]), np.array([0, 10]), rows, {}), by_k)
    >>> rolled.keys.to_pydict(), rolled.start.tolist(), rolled.rows["count(*)"][:, 0].tolist()
    ({'key k': ['a']}, [0], [7])
    """
    assert feed.finer is not None
    keys = key_codes(_keys(finer.keys, feed.finer.tree, feed.grouping, feed.tree))
    rows = {measure.key: finer.rows[measure.key].copy() for measure in feed.folded_measures}
    starts = slice_starts(feed.tree.edges, finer.start)
    return merge(Partials(keys.codes[finer.group], keys.distinct, starts, rows, finer.carried), feed.folded_measures)


def _keys(keys: pa.Table, finer: TreeProgram, grouping: Grouping, tree: TreeProgram) -> pa.Table:
    """Return the coarser key of every finer one, with the signature of the coarser tree's predicates."""
    if grouping.keys:
        coarser = keys.select(list(grouping.columns))
    else:
        coarser = pa.table({NO_KEY: pa.nulls(keys.num_rows, pa.bool_())})
    if not tree.bits:
        return coarser
    place = {test.name: number for number, test in enumerate(finer.bits)}
    passed = unpack_signatures(keys[SIGNATURE], len(finer.bits))[:, [place[test.name] for test in tree.bits]]
    return coarser.append_column(SIGNATURE, signature_column(passed))


SAMPLE = 4096  # events whose cells are compared with those before them


def count_cells(events: Events, feed: Feed, cells: Cells) -> dict[str, int]:
    """Return how many events were given their cells, by which way, and folded; and about how many of them into the cell
    of the event before.

    >>> from types import SimpleNamespace as Events
    >>> from jobs.kernels.algebra.operators import COUNT
    >>> over = MeasureProgram("count(*) where x > 1", "count", COUNT, "int64", "", "", "x > 1")
    >>> tree = TreeProgram("t", ((10, 0),), "events", 10, (over,), (), {})
    >>> feed, codes = Feed(Grouping(("k",), (pa.string(),), (tree,)), tree), np.array([0, 0, 0, 1])
    >>> events = Events(times=np.array([3, 7, 12, 13]), predicates={"x > 1": np.array([True, False, False, False])})
    >>> count_cells(events, feed, Cells(np.array([0, 0, 1, 2]), codes, events.times))
    {'event.cell': 4, 'event.signed': 0, 'partial': 1, 'partial.masked': 4, 'partial.guessed': 1, 'partial.chained': 0}
    """
    some = cells.cell[:SAMPLE]
    alike = np.count_nonzero(some[1:] == some[:-1]) / max(1, len(some) - 1)
    total, folds = len(events.times), _count_folds(events, feed)
    placed = {SORTED if cells.are_sorted else CELL: total, SIGNED: total * bool(feed.tree.bits)}
    return {**placed, **folds, CHAINED: round(folds[PARTIAL] * alike)}


def _count_folds(events: Events, feed: Feed) -> dict[str, int]:
    """Return how many events are folded, each once per measure that takes it; how many are looked at for a measure
    with a predicate, and of these the fewer: those that pass, or those that do not."""
    measures, total = feed.folded_measures, len(events.times)
    masks = [] if feed.tree.bits else [measure.where for measure in measures if measure.where]
    passing = {name: int(np.count_nonzero(events.predicates[name])) for name in set(masks)}
    return {
        PARTIAL: total * (len(measures) - len(masks)) + sum(passing[name] for name in masks),
        MASKED: total * len(masks),
        GUESSED: sum(min(passing[name], total - passing[name]) for name in masks),
    }
