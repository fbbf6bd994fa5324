"""Events become partials: one per key and slice, or one per event where windows are in rows; late ones are found."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jobs.engine.events.columns import BATCH, FILE, POSITION, Events, events_from, with_arrivals
from jobs.engine.events.parquet import with_inputs
from jobs.engine.feed.task import feed_tables, find_late_events, fold_events, row_partials, windows_missed
from jobs.engine.program.program import Program, key_column
from jobs.engine.slices.exchange import label, merge_tables, unpack_parcels
from jobs.engine.slices.roll_up import feeds
from jobs.engine.work import Work
from jobs.kernels.algebra.operators import LIMB_BITS
from optimizer.windows.window import BEGINNING, Window
from tests.worlds.streams import SECOND, Row, odd_row, table_of
from tests.worlds.warehouse import make_world, query


def event(second: int, key: str, number: int | None) -> Row:
    return {**odd_row(second * SECOND, 0), "k": key, "i": number}


EVENTS = [event(1, "a", 5), event(3, "b", 1), event(4, "a", 7), event(12, "a", None), event(3, "a", 2)]


def program_of(folder: Path, *queries: object) -> Program:
    world = make_world(folder, [EVENTS], queries, 0)
    return world.program(world.plan("shared"))


def events_of(program: Program) -> Events:
    inputs = with_inputs(table_of(EVENTS), program)
    return events_from(with_arrivals(inputs, [("part-0", 0, inputs.num_rows)]) if program.in_rows else inputs, program)


def test_a_partial_per_key_and_slice(tmp_path: Path) -> None:
    program = program_of(tmp_path, query("q", "sum(i)", 10 * SECOND, group_by=["k"]))
    (feed,) = feeds(program)
    slices = fold_events(events_of(program), feed, BEGINNING)
    assert slices.keys["key k"].to_pylist() == ["a", "b"]
    assert (slices.start // SECOND).tolist() == [0, 10, 0]
    (measure,) = feed.tree.measures
    rows = slices.rows[measure.key]
    assert rows[:, 3].tolist() == [1, 0, 1]  # the only i of the second slice is null
    assert ((rows[:, 0] << LIMB_BITS) + rows[:, 1]).tolist() == [14, 0, 1]


def test_events_whose_windows_are_all_out_are_not_folded(tmp_path: Path) -> None:
    program = program_of(tmp_path, query("q", "count(*)", 10 * SECOND))
    (feed,) = feeds(program)
    assert (fold_events(events_of(program), feed, 15 * SECOND).start // SECOND).tolist() == [10]


def test_windows_in_rows_get_a_partial_per_event_with_its_arrival(tmp_path: Path) -> None:
    program = program_of(
        tmp_path,
        {"id": "q", "stream": "events", "select": "sum(i)", "range": "2 rows", "slide": "1 row", "group_by": ["k"]},
    )
    ((grouping, tree),) = program.roots()
    table = row_partials(events_of(program), grouping, tree, emitted=3 * SECOND, batch=7)
    assert table[key_column("k")].to_pylist() == ["b", "a", "a", "a"]  # the first event is late
    assert [start // SECOND for start in table["start"].to_pylist()] == [3, 4, 12, 3]
    assert table[BATCH].to_pylist() == [7] * 4
    assert table[FILE].to_pylist() == ["part-0"] * 4
    assert table[POSITION].to_pylist() == [1, 2, 3, 4]


def test_windows_missed_counts_those_that_hold_the_time_and_have_ended() -> None:
    window = Window(range=10, slide=5)
    for time in range(-20, 40):
        for emitted in (0, 7, 20):
            starts = range(-100, 100, 5)
            expected = sum(start <= time < start + 10 and start + 10 <= emitted for start in starts)
            assert windows_missed(np.array([time]), window, emitted).tolist() == [expected]


def test_late_events_are_found_for_every_query_that_was_there(tmp_path: Path) -> None:
    wide, narrow = query("wide", "count(*)", 10 * SECOND), query("narrow", "sum(i)", 2 * SECOND, where="i > 4")
    program = program_of(tmp_path, wide, narrow)
    events = events_of(program)
    positions, missed = find_late_events(events, program, 4 * SECOND, {})
    assert positions.tolist() == [0]  # at second 3, i is 1 and 2
    assert missed.tolist() == [1]
    positions, missed = find_late_events(events, program, 10 * SECOND, {})
    assert positions.tolist() == [0, 1, 2, 4]
    assert missed.tolist() == [2, 1, 2, 1]
    labels = {q.id: q.label for g in program.groupings for tree in g.trees for q in tree.queries}
    positions, missed = find_late_events(events, program, 10 * SECOND, {labels["wide"]: 10 * SECOND})
    assert (positions.tolist(), missed.tolist()) == ([0, 2], [1, 1])


def test_a_feed_task_reports_what_it_read_and_addresses_every_partial(tmp_path: Path) -> None:
    program = program_of(tmp_path, query("q", "count(*)", 10 * SECOND, group_by=["k"]))
    raw = table_of([*EVENTS, {**EVENTS[0], "ts": None}])
    pairs = [(raw, with_inputs(raw, program))]
    report, parcels = feed_tables(program, Work(str(tmp_path / "w"), 0, BEGINNING, BEGINNING, 2), pairs)
    assert (report.events, report.without_time, report.latest) == (6, 1, 12 * SECOND)
    assert not report.late
    ((grouping, tree),) = program.roots()
    assert report.operations == {tree.id: 5}
    tables = unpack_parcels([parcel.content for parcel in parcels])[label(grouping, tree)]
    slices = merge_tables(grouping, tree, tables)
    counts = dict(zip(slices.keys["key k"].to_pylist(), np.diff(slices.offsets), strict=True))
    assert counts == {"a": 2, "b": 1}
