"""Which slices of an old plan serve a new one, and from when on each query is answered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from jobs.engine.batch.carry import (
    Source,
    answered_after,
    contains,
    is_served_by,
    needed_from,
    retained_from_start,
    source_of,
)
from jobs.engine.program.program import Program
from jobs.engine.slices.exchange import label
from jobs.engine.warehouse.state_files import RetainedSlices
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING
from tests.worlds.streams import SECOND, odd_row
from tests.worlds.warehouse import make_world, query

FINE = query("fine", "sum(n)", 6 * SECOND, 2 * SECOND)
COARSE = query("coarse", "sum(n)", 4 * SECOND, 4 * SECOND)
OTHER = query("other", "max(x)", 4 * SECOND, 4 * SECOND)


def program_of(folder: Path, *queries: dict[str, object]) -> Program:
    world = make_world(folder, [[odd_row(0, 0)]], queries, 0)
    return world.program(world.plan("shared"))


@pytest.mark.parametrize(
    ("edges", "others", "expected"),
    [
        (((2, 0),), ((4, 0),), True),
        (((2, 0),), ((4, 1),), False),
        (((4, 0), (4, 2)), ((2, 0),), True),
        (((2, 0), (3, 0)), ((6, 1),), False),
    ],
)
def test_contains(edges: tuple[tuple[int, int], ...], others: tuple[tuple[int, int], ...], expected: bool) -> None:
    assert contains(edges, others) is expected


def test_finer_slices_with_the_same_measure_serve_coarser_ones(tmp_path: Path) -> None:
    fine, coarse, other = (program_of(tmp_path / q["id"], q) for q in (FINE, COARSE, OTHER))
    retained = retained_from_start(fine)
    (name,) = retained.trees
    ((grouping, tree),) = coarse.roots()
    watermark = 100 * SECOND
    assert source_of(retained, grouping, tree, watermark) == Source(name, BEGINNING, (name,))
    assert needed_from(tree, watermark) == watermark - 4 * SECOND + 1, "the fine slices reach far enough back"
    ((grouping, tree),) = other.roots()
    assert source_of(retained, grouping, tree, watermark) == Source(), "no slices hold max(x)"


def test_is_served_by(tmp_path: Path) -> None:
    fine, both = program_of(tmp_path / "fine", FINE), program_of(tmp_path / "both", FINE, COARSE)
    retained = retained_from_start(fine)
    assert is_served_by(fine, retained)
    assert not is_served_by(both, retained)
    rebuilt = {name: replace(tree, since=7) for name, tree in retained.trees.items()}
    assert is_served_by(fine, RetainedSlices(rebuilt, retained.answered_after)), "whatever the time they begin at"


def test_a_new_query_is_answered_once_all_its_events_are_there(tmp_path: Path) -> None:
    program = program_of(tmp_path, FINE)
    ((grouping, tree),) = program.roots()
    (query_label,) = retained_from_start(program).answered_after
    name, watermark = label(grouping, tree), 100 * SECOND
    assert answered_after(RetainedSlices(), program, {name: BEGINNING}, watermark) == {query_label: watermark}
    late = {name: 98 * SECOND}
    assert answered_after(RetainedSlices(), program, late, watermark) == {query_label: 104 * SECOND - 1}
    old = RetainedSlices({}, {query_label: BEGINNING})
    assert answered_after(old, program, {name: 90 * SECOND}, watermark) == {query_label: BEGINNING}
    with pytest.raises(HeddleError, match="query fine: the new plan has to read its events again"):
        answered_after(old, program, late, watermark)
