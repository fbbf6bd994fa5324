"""What one feed task does: read events, fold them into partials, set late events apart, address the partials."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from jobs.engine.events.columns import Events, events_from, with_arrival
from jobs.engine.events.parquet import Split, read_split, with_inputs
from jobs.engine.feed.late import find_late_events
from jobs.engine.feed.partials import fold_events, row_partials
from jobs.engine.program.program import Grouping, Program, TreeProgram
from jobs.engine.slices.exchange import hardly_overlap, merge_tables, pack_by_bucket
from jobs.engine.slices.roll_up import Feed, feeds, roll_up
from jobs.engine.slices.slices import Slices, to_table
from jobs.engine.stopwatch import Stopwatch
from jobs.engine.warehouse.late_files import write_late
from jobs.engine.work import FeedReport, Parcel, Work
from jobs.host.kill_points import step
from jobs.host.storage import Storage

FOLD_AT = 32  # tables of partials held at once


def feed_splits(program: Program, work: Work, splits: Iterable[Split]) -> tuple[FeedReport, list[Parcel]]:
    """The file lane's task."""
    return feed_tables(program, work, (pair for split in splits for pair in _read(split, program, work)))


def _read(split: Split, program: Program, work: Work) -> Iterator[tuple[pa.Table, pa.Table]]:
    position = 0
    file = f"{split.path}#{min(split.row_groups, default=0):09d}"
    for table in read_split(split, program, work.kind == "adopt"):
        inputs = with_inputs(table, program)
        yield table, with_arrival(inputs, file, position) if program.in_rows else inputs
        position += table.num_rows


def feed_tables(
    program: Program, work: Work, pairs: Iterable[tuple[pa.Table, pa.Table]]
) -> tuple[FeedReport, list[Parcel]]:
    """Fold tables of events; each comes as it was read, and as the columns the fold wants."""
    report = FeedReport()
    planned = feeds(program)
    watch = Stopwatch(report.seconds)
    held: dict[str, list[pa.Table]] = {}
    for raw, table in pairs:
        step("read")
        watch.lap("read")
        events = events_from(table, program)
        _count(report, events)
        if work.kind == "batch":
            _set_apart(report, raw, events, program, work)
        for each in planned:
            _take(report, held, each, events, work)
        step("feed")
        watch.lap("feed")
    sent = [Parcel(*packed) for packed in pack_by_bucket(partials_by_tree(report, planned, held), work.buckets)]
    step("parcels")
    watch.lap("exchange")
    return report, sent


def late_events(program: Program, work: Work, pairs: Iterable[tuple[pa.Table, pa.Table]]) -> FeedReport:
    """Only sets late events apart; they come as to `feed_tables`, and were counted before."""
    report = FeedReport()
    for raw, table in pairs:
        _set_apart(report, raw, events_from(table, program), program, work)
    return report


def _take(report: FeedReport, held: dict[str, list[pa.Table]], each: Feed, events: Events, work: Work) -> None:
    """Fold events into a tree's partials; one that is rolled up gets its own later."""
    if each.finer:
        return
    tables = held.setdefault(each.tree.id, [])
    if each.tree.rows:
        tables.append(row_partials(events, each.grouping, each.tree, work.emitted, work.batch))
        return
    tables.append(to_table(fold_events(events, each, work.emitted)))
    report.add_operations(each.tree.id, _folded(events, each))
    if len(tables) >= FOLD_AT:
        tables[:] = [to_table(merge_tables(each.grouping, each.tree, tables, each.held))]


def partials_by_tree(
    report: FeedReport, planned: Sequence[Feed], held: dict[str, list[pa.Table]]
) -> Iterator[tuple[Grouping, TreeProgram, Slices | pa.Table]]:
    """The partials of every tree: its own, joined where that makes them fewer, or rolled up from those of another."""
    done: dict[str, Slices] = {}
    for each in planned:
        tree = each.tree
        if tree.id in held and (tree.rows or (not each.coarser and hardly_overlap(held[tree.id]))):
            yield each.grouping, tree, pa.concat_tables(held[tree.id], promote_options="permissive")
            continue
        if each.finer and each.finer.tree.id in done:
            partials = done[each.finer.tree.id]
            done[tree.id] = roll_up(partials, each)
            report.add_operations(tree.id, len(partials.start) * len(each.held))
        elif tree.id in held:
            done[tree.id] = merge_tables(each.grouping, tree, held[tree.id], each.held)
        if tree.id in done:
            yield each.grouping, tree, each.own(done[tree.id])


def _folded(events: Events, each: Feed) -> int:
    """How many events are folded, each once per measure that takes it."""
    held = each.held
    if each.tree.bits or not any(measure.where for measure in held):
        return len(events.times) * len(held)
    passing = {name: int(np.count_nonzero(mask)) for name, mask in events.predicates.items()}
    return sum(passing[measure.where] if measure.where else len(events.times) for measure in held)


def _count(report: FeedReport, events: Events) -> None:
    report.events += len(events.times) + events.without_time
    report.without_time += events.without_time
    if len(events.times):
        report.latest = max(report.latest, int(events.times.max()))


def _set_apart(report: FeedReport, raw: pa.Table, events: Events, program: Program, work: Work) -> None:
    position, missed = find_late_events(events, program, work.emitted, work.joined)
    if len(position):
        rows = raw.filter(raw[program.time].is_valid()) if events.without_time else raw
        report.windows_missed += int(np.sum(missed))
        taken = rows.take(pa.array(position))
        report.late.append(write_late(Storage(work.root), work.batch, work.emitted, taken, missed))
