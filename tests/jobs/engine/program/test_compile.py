"""A plan compiled: feeders before the fed, inputs evaluated once, and refusals in one line."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from jobs.engine.events.file_types import file_types
from jobs.engine.program.compile import compile_program
from jobs.engine.program.program import Program
from optimizer.errors import HeddleError
from optimizer.plan.definition import EVENTS
from optimizer.windows.window import BEGINNING
from tests.worlds.streams import SECOND, odd_row
from tests.worlds.warehouse import World, make_world, query

QUERIES = [
    query("a", "avg(x)", 4 * SECOND, 2 * SECOND, where="b", group_by=["k"]),
    query("b", "max(x)", 6 * SECOND, 3 * SECOND, where="b", group_by=["k"]),
    query("c", "sum(x)", 20 * SECOND, 4 * SECOND, group_by=["k"]),
    query("d", "max_by(s, x)", 3 * SECOND, group_by=["i", "k"]),
    query("e", "count(*)", 3 * SECOND),
    query("f", "product(n)", 3 * SECOND, offset=2 * SECOND),
]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path, [[odd_row(0, 1)]], QUERIES, 5 * SECOND)


def test_inputs_are_named_and_evaluated_once(world: World) -> None:
    program = world.program(world.plan("shared"))
    assert sorted(item.sql for item in program.values) == ["cast(n AS DOUBLE)", "cast(x AS DOUBLE)", "s", "x"]
    assert [item.sql for item in program.predicates] == ["b"]
    assert program.lateness == 5 * SECOND
    assert [grouping.keys for grouping in program.groupings] == [(), ("i", "k"), ("k",)]
    assert [grouping.types for grouping in program.groupings] == [
        (pa.bool_(),),
        (pa.int32(), pa.string()),
        (pa.string(),),
    ]


def test_queries_know_how_they_are_finished(world: World) -> None:
    program = world.program(world.plan("shared"))
    queries = {q.id: q for grouping in program.groupings for tree in grouping.trees for q in tree.queries}
    assert queries["a"].measures == ("sum(cast(x AS DOUBLE)) where b", "count(x) where b")
    assert queries["a"].passing == queries["b"].passing == "count(*) where b"
    assert queries["c"].passing == ""
    assert (queries["d"].type, queries["e"].type, queries["f"].type) == (pa.string(), pa.int64(), pa.float64())
    assert program.wheres(_input(program, "x")) == {_test(program), ""}


def _input(program: Program, sql: str) -> str:
    return next(item.name for item in program.values if item.sql == sql)


def _test(program: Program) -> str:
    return program.predicates[0].name


@pytest.mark.parametrize("strategy", ["shared", "tri_weave", "factor_windows", "cascade"])
def test_a_feeder_holds_what_the_trees_below_need(world: World, strategy: str) -> None:
    for grouping in world.program(world.plan(strategy, "panes")).groupings:
        seen = {EVENTS}
        for tree in grouping.trees:
            assert tree.feed in seen
            seen.add(tree.id)
            assert tree.reach >= max((q.window.range for q in tree.queries), default=0)
            for q in tree.queries:
                assert {*q.measures, *filter(None, [q.passing])} <= {measure.key for measure in tree.measures}


@pytest.mark.parametrize(
    ("select", "line"),
    [
        ("sum(b)", "sum of a boolean: it needs a number; cast it first"),
        ("range(d)", "range of a date: it needs a number; cast it first"),
        ("bit_and(x)", "bit_and of a double: it needs a whole number; cast it first"),
        ("bool_or(n)", "bool_or of a bigint: it needs a boolean; cast it first"),
    ],
)
def test_arguments_of_a_wrong_type(tmp_path: Path, select: str, line: str) -> None:
    world = make_world(tmp_path, [[odd_row(0, 1)]], [query("q", select, SECOND)], 0)
    with pytest.raises(HeddleError) as refusal:
        world.program(world.plan("shared"))
    assert str(refusal.value) == line


def test_rows_of_another_predicate_have_another_clock(tmp_path: Path) -> None:
    rows = {"stream": "events", "select": "sum(n)", "range": "10 rows", "slide": "5 rows"}
    entries = [{**rows, "id": f"q{n}", **({"where": f"n > {n}"} if n else {})} for n in range(3)]
    world = make_world(tmp_path, [[odd_row(0, 1)]], entries, 0)
    program = world.program(world.plan("shared"))
    assert sorted(tree.where for _, tree in program.roots()) == ["", "__p0", "__p1"]
    assert program.in_rows


def test_nothing_was_emitted_in_the_beginning(world: World) -> None:
    plan = world.plan("shared")
    types = file_types(world.catalog, plan, str(world.files[0]))
    program = compile_program(world.catalog, plan, types)
    assert all(BEGINNING - tree.reach > -(1 << 63) for _, tree in program.roots())
    assert program == world.program(plan)
