"""Roll-up: the partials of a coarser grouping, folded from those of a finer one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from jobs.engine.program.program import Grouping, MeasureProgram, Program, TreeProgram
from jobs.engine.slices.roll_up import Feed, feeds, roll_up
from jobs.engine.slices.slices import Slices
from jobs.kernels.algebra.operators import COUNT, MAX, lift
from optimizer.plan.definition import EVENTS

COUNTED = MeasureProgram("count(*)", "count", COUNT, "int64", "", "", "")
LARGEST = MeasureProgram("max(x)", "max", MAX, "int64", "x", "", "")


def tree(id: str, slide: int, measure: MeasureProgram, rolled_from: str = "") -> TreeProgram:
    return TreeProgram(id, ((slide, 0),), EVENTS, 2 * slide, (measure,), (), {}, rolled_from=rolled_from)


FINE = Grouping(("k", "i"), (pa.string(), pa.int64()), (tree("fine", 10, COUNTED),))
COARSE = Grouping(("k",), (pa.string(),), (tree("coarse", 20, LARGEST, "fine"),))
TOTAL = Grouping((), (pa.bool_(),), (tree("total", 40, COUNTED, "coarse"),))
PROGRAM = Program("ts", (), (), (TOTAL, COARSE, FINE), 0, "", {}, {})


def test_a_feed_comes_after_the_one_it_is_rolled_up_from_and_lends_what_is_below() -> None:
    ordered = feeds(PROGRAM)
    assert [feed.tree.id for feed in ordered] == ["fine", "coarse", "total"]
    fine, coarse, total = ordered
    assert (fine.finer, coarse.finer, total.finer) == (None, fine, coarse)
    assert [below.id for below in fine.coarser] == ["coarse", "total"]
    assert [measure.key for measure in fine.folded_measures] == ["count(*)", "max(x)"]
    assert [feed.reach for feed in ordered] == [80, 80, 80]


def test_keys_and_slices_that_become_one_are_folded() -> None:
    fine, coarse, _ = feeds(PROGRAM)
    keys = pa.table({"key k": ["a", "a", "b"], "key i": [1, 2, 1]})
    rows = {"count(*)": lift(COUNT, np.array([1, 2, 3, 4])), "max(x)": lift(MAX, np.array([7, 9, 8, 5]))}
    slices = Slices(keys, np.array([0, 2, 3, 4]), np.array([0, 10, 10, 20]), rows, {})
    rolled = roll_up(slices, coarse)
    assert rolled.keys.to_pydict() == {"key k": ["a", "b"]}
    assert (rolled.offsets.tolist(), rolled.start.tolist()) == ([0, 1, 2], [0, 20])
    assert rolled.rows["count(*)"][:, 0].tolist() == [6, 4]  # for the tree below
    assert rolled.rows["max(x)"][:, 0].tolist() == [9, 5]
    assert list(coarse.without_lent(rolled).rows) == ["max(x)"]
    assert fine.without_lent(slices).rows.keys() == {"count(*)"}


def test_a_tree_that_lends_nothing_keeps_its_slices_as_they_are() -> None:
    feed = Feed(FINE, FINE.trees[0])
    slices = Slices(pa.table({"key k": ["a"], "key i": [1]}), np.array([0, 0]), np.empty(0, np.int64), {}, {})
    assert feed.without_lent(slices) is slices
