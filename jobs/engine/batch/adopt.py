"""A new plan takes over between two batches: slices carry on or are rebuilt, and one manifest makes it so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from jobs.engine.batch.carry import (
    Source,
    answered_after,
    needed_from,
    retained_slices_of,
    source_of,
    unshared_answered_after,
)
from jobs.engine.batch.run_batch import counts_of, run_tasks
from jobs.engine.program.program import Program, QueryProgram, Unshared
from jobs.engine.program.queries import frame_labels
from jobs.engine.slices.exchange import label
from jobs.engine.warehouse import state_files
from jobs.engine.warehouse.consumed_files import RawEvents
from jobs.engine.warehouse.manifest import DataFile, Manifest, commit, has_all_marks
from jobs.engine.warehouse.state_files import RetainedSlices, load_retained, save_retained
from jobs.engine.work import Executor, Executors, Outcome, Work
from jobs.host.stops import step
from jobs.host.storage import Storage
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING


@dataclass(frozen=True)
class Adopted:
    """What became of the trees of a new plan, and of its queries that were not there before."""

    manifest: Manifest
    carried: int
    rebuilt: int
    events: int
    joined: dict[str, int]  # new queries by id: the windows that end after this time are answered


@dataclass(frozen=True)
class Sources:
    """Where the slices of every tree of a new plan come from, by the label of the new slices."""

    carried: dict[str, tuple[str, ...]]  # the labels of the old slices that hold all they need, level by level
    rebuilt: frozenset[str]  # folded from raw events
    since: dict[str, int]  # all events since this time will be in them
    raw: RawEvents


def adopt(
    storage: Storage,
    before: Manifest,
    program: Program,
    raw_since: Callable[[int], RawEvents],
    executors: Executors,
    anew: bool = False,
) -> Adopted:
    """Let a program take over the slices of the one before it; or fold all of them `anew` from the raw events, where
    these have other types now. Nothing is emitted, and no new event is consumed."""
    old = load_retained(storage, before.standing)
    usable = replace(old, trees={}) if anew else old
    sources = _find_sources(usable, program, before.watermark, raw_since)
    new = _retained_after(old, program, sources, before.watermark)
    in_rows = sources.rebuilt & {label(grouping, tree) for grouping, tree in program.roots() if tree.rows}
    if in_rows and not has_all_marks(before.marks, before.batch):
        raise HeddleError(
            "windows in rows have to be counted from the first event on, and what is known of the first batches is not "
            "enough after so many; leave them out, or keep the plan in force"
        )
    raw, in_time = sources.raw, sources.rebuilt - in_rows
    outcomes = [
        _carry(storage, before, program, sources.carried, executors.execute([])),
        _rebuild(storage, before, _with_trees(program, in_time), executors.execute(raw.files)),
        _rebuild(storage, before, _with_trees(program, in_rows), executors.replay(raw.batches)),
    ]
    after = replace(
        before,
        sequence=before.sequence + 1,
        plan=program.fingerprint,
        state=tuple(file for outcome in outcomes for report in outcome.buckets for file in report.state),
        types=before.types | {sql: str(kind) for sql, kind in program.kept_types.items()},
        counts=counts_of(Outcome(), [], []),
        standing=save_retained(storage, new),
    )
    commit(storage, after)
    step("taken over")
    events = sum(report.events for outcome in outcomes for report in outcome.feeds)
    return Adopted(after, len(sources.carried), len(sources.rebuilt), events, _joined_queries(old, new, program))


def _find_sources(
    old: RetainedSlices, program: Program, watermark: int, raw_since: Callable[[int], RawEvents]
) -> Sources:
    """Find the old slices that hold what each new tree needs, and the raw events for the trees that lack some."""
    best = {label(grouping, tree): source_of(old, grouping, tree, watermark) for grouping, tree in program.roots()}
    needs = {label(grouping, tree): needed_from(tree, watermark) for grouping, tree in program.roots()}
    lacking = [name for name, source in best.items() if source.since > needs[name]]
    joining = [query for query in program.unshared if query.label not in old.answered_after]
    starts = [needs[name] for name in lacking]
    starts += [max(BEGINNING, watermark - query.window.range + 1) for query in joining]
    raw = raw_since(min(starts)) if starts else RawEvents()
    # where files are gone, old slices may still reach further back than the raw events
    rebuilt = frozenset(name for name in lacking if raw.since < best[name].since)
    carried: dict[str, Source] = {name: source for name, source in best.items() if name not in rebuilt}
    since = dict.fromkeys(rebuilt, raw.since) | {name: source.since for name, source in carried.items()}
    return Sources({name: source.levels for name, source in carried.items()}, rebuilt, since, raw)


def _retained_after(old: RetainedSlices, program: Program, sources: Sources, watermark: int) -> RetainedSlices:
    """Return what the slices of the new plan hold, or refuse a plan that would leave windows out."""
    answered = answered_after(old, program, sources.since, watermark)
    answered |= unshared_answered_after(old, program, sources.raw.since, watermark)
    trees = {
        label(grouping, tree): retained_slices_of(grouping, tree, sources.since[label(grouping, tree)])
        for grouping, tree in program.roots()
    }
    return RetainedSlices(trees, answered, frame_labels(program.groupings))


def _carry(
    storage: Storage, before: Manifest, program: Program, carried: dict[str, tuple[str, ...]], execute: Executor
) -> Outcome:
    """Fold old slices into those of the new plan."""
    state = before.state if carried else ()
    return _run_adoption(storage, before, _with_trees(program, frozenset(carried)), carried, state, execute)


def _rebuild(storage: Storage, before: Manifest, program: Program, execute: Executor) -> Outcome:
    """Fold raw events into the slices of the new plan."""
    return _run_adoption(storage, before, program, {}, (), execute)


def _run_adoption(
    storage: Storage,
    before: Manifest,
    program: Program,
    adopted_from: dict[str, tuple[str, ...]],
    state: tuple[DataFile, ...],
    execute: Executor,
) -> Outcome:
    if not program.groupings:
        return Outcome()
    work = Work(
        storage.root,
        before.batch,
        emitted=before.watermark,
        until=before.watermark,
        buckets=before.buckets,
        state=state,
        kind="adopt",
        adopted_from=adopted_from,
    )
    return run_tasks(storage, program, work, execute, (state_files.FOLDER,))


def _with_trees(program: Program, labels: frozenset[str]) -> Program:
    """Return the program with some of the trees that keep state, and without the trees that they feed."""
    groupings = []
    for grouping in program.groupings:
        trees = tuple(tree for tree in grouping.trees if label(grouping, tree) in labels)
        if trees:
            groupings.append(replace(grouping, trees=trees))
    return replace(program, groupings=tuple(groupings))


def _joined_queries(old: RetainedSlices, new: RetainedSlices, program: Program) -> dict[str, int]:
    """Return the queries that are new with the plan, with the time after which they are answered."""
    woven = [query for grouping in program.groupings for tree in grouping.trees for query in tree.queries]
    queries: list[QueryProgram | Unshared] = [*woven, *program.unshared]
    return {query.id: new.answered_after[query.label] for query in queries if query.label not in old.answered_after}
