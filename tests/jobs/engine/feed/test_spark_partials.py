"""Spark's own aggregates become the same partials as events that are folded here."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from jobs.engine.feed import spark_partials
from jobs.engine.feed.spark_partials import (
    EVENTS,
    LATE,
    LATEST,
    START,
    aggregations,
    feed_aggregated,
    part_column,
    pass_edges,
    spark_key,
    why_not,
)
from jobs.engine.program.program import Program
from jobs.engine.slices.exchange import label, merge_tables, unpack_parcels
from tests.worlds.streams import SECOND, odd_row
from tests.worlds.warehouse import make_world, query


def program_of(folder: Path, *queries: object) -> Program:
    world = make_world(folder, [[odd_row(0, 1)]], queries, 0)
    return world.program(world.plan("shared"))


def test_groups_of_spark_become_partials(tmp_path: Path) -> None:
    program = program_of(tmp_path, query("q", "max(i)", 10 * SECOND, group_by=["k"]))
    (aggregation,) = aggregations(program)
    table = pa.table(
        {
            spark_key(0): ["a", "b", "a", None],
            START: [10 * SECOND, 0, 10 * SECOND, None],
            EVENTS: [3, 2, 4, 5],
            LATEST: [15 * SECOND, SECOND, 18 * SECOND, None],
            LATE: [0, 2, 0, 0],
            part_column(0, 0): pa.array([7, None, 9, 1], pa.int32()),
        }
    )
    report, parcels = feed_aggregated(program, 1, aggregation, table, counts_events=True)
    assert (report.events, report.without_time, report.latest, report.early) == (14, 5, 18 * SECOND, 2)
    ((grouping, tree),) = program.roots()
    slices = merge_tables(grouping, tree, unpack_parcels([p.content for p in parcels])[label(grouping, tree)])
    assert slices.keys["key k"].to_pylist() == ["a", "b"]
    assert (slices.start // SECOND).tolist() == [10, 0]
    (measure,) = tree.measures
    assert slices.rows[measure.key][:, [0, 3]].tolist() == [[9, 1], [0, 0]]  # of b, every i is null


def test_why_events_are_folded_one_by_one(tmp_path: Path) -> None:
    assert why_not(program_of(tmp_path / "1", query("q", "max(i)", SECOND))) == ""
    assert "carries texts along" in why_not(program_of(tmp_path / "2", query("q", "last(s)", SECOND)))
    assert why_not(program_of(tmp_path / "5", query("q", "last(i)", SECOND), query("r", "max_by(d, i)", SECOND))) == ""
    in_rows = {"id": "q", "stream": "events", "select": "sum(i)", "range": "2 rows", "slide": "1 row"}
    assert why_not(program_of(tmp_path / "3", in_rows)) == "some windows are measured in rows"
    groupings = [query(f"q{key}", "count(*)", SECOND, group_by=[key]) for key in ("k", "i", "d", "b")]
    program = program_of(tmp_path / "4", *groupings)
    assert why_not(program) == "4 groupings would take as many passes"
    assert why_not(program, in_one=True) == ""
    (joint,) = aggregations(program, in_one=True)
    assert sorted(joint.keys) == ["b", "d", "i", "k"]


def test_a_pass_slices_finer_where_a_round_is_long() -> None:
    assert pass_edges(((4, 1), (6, 0), (6, 2))) == ((4, 1), (6, 0), (6, 2))
    assert spark_partials.SLOTS < 1_000_003
    assert pass_edges(((1_000_003, 0), (999_983, 0))) == ((1, 0),)
