"""A new plan takes over between two batches: slices carry on or are rebuilt, and one manifest makes it so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from jobs.engine.batch.carry import asked_after, held, needed_from, source_of, unshared_after
from jobs.engine.batch.run_batch import counts_of, executed
from jobs.engine.program.program import Program, QueryProgram, Unshared
from jobs.engine.slices.exchange import label
from jobs.engine.warehouse import state_files as state
from jobs.engine.warehouse.manifest import Manifest, commit, has_all_marks
from jobs.engine.warehouse.raw_events import Raw
from jobs.engine.warehouse.retained import RetainedSlices, load_retained, save_retained
from jobs.engine.work import Executor, Executors, Outcome, Work
from jobs.host.kill_points import step
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


def adopt(
    storage: Storage,
    before: Manifest,
    program: Program,
    raw_since: Callable[[int], Raw],
    executors: Executors,
) -> Adopted:
    """Let a program take over the slices of the one before it. Nothing is emitted, and no event is taken."""
    standing = load_retained(storage, before.standing)
    sources = {label(g, tree): source_of(standing, g, tree, before.watermark) for g, tree in program.roots()}
    needs = {label(g, tree): needed_from(tree, before.watermark) for g, tree in program.roots()}
    lacking = [name for name, source in sources.items() if source.since > needs[name]]
    joining = [query for query in program.unshared if query.label not in standing.answered_after]
    reaching = [needs[name] for name in lacking]
    reaching += [max(BEGINNING, before.watermark - query.window.range + 1) for query in joining]
    raw = raw_since(min(reaching)) if reaching else Raw()
    rebuilt = {name for name in lacking if raw.since < sources[name].since}
    sinces = {name: raw.since if name in rebuilt else sources[name].since for name in sources}
    asked = asked_after(standing, program, sinces, before.watermark)
    asked |= unshared_after(standing, program, raw.since, before.watermark)
    carried = {name: source.label for name, source in sources.items() if name not in rebuilt}
    numbered = rebuilt & {label(g, tree) for g, tree in program.roots() if tree.rows}
    if numbered and not has_all_marks(before.marks, before.batch):
        raise HeddleError(
            "windows in rows have to be counted from the first event on, and what is known of the first batches is not "
            "enough after so many; leave them out, or keep the plan in force"
        )
    outcomes = [
        _moved(storage, before, _only(program, set(carried)), carried, executors.execute([])),
        _moved(storage, before, _only(program, rebuilt - numbered), {}, executors.execute(raw.files)),
        _moved(storage, before, _only(program, numbered), {}, executors.replay(raw.batches)),
    ]
    trees = {label(g, tree): held(g, tree, sinces[label(g, tree)]) for g, tree in program.roots()}
    after = replace(
        before,
        sequence=before.sequence + 1,
        plan=program.fingerprint,
        state=tuple(file for outcome in outcomes for report in outcome.buckets for file in report.state),
        types=before.types | {name: str(kind) for name, kind in program.types.items()},
        counts=counts_of(Outcome(), [], []),
        standing=save_retained(storage, RetainedSlices(trees, asked)),
    )
    commit(storage, after)
    step("taken over")
    events = sum(report.events for outcome in outcomes for report in outcome.feeds)
    return Adopted(after, len(carried), len(rebuilt), events, _joined(standing, program, asked))


def _moved(storage: Storage, before: Manifest, program: Program, carried: dict[str, str], execute: Executor) -> Outcome:
    """The state files of some trees."""
    if not program.groupings:
        return Outcome()
    kept = before.state if carried else ()
    mark = before.watermark
    work = Work(storage.root, before.batch, mark, mark, before.buckets, kept, kind="adopt", adopted_from=carried)
    return executed(storage, program, work, execute, (state.FOLDER,))


def _only(program: Program, labels: set[str]) -> Program:
    """The program with some of the trees that keep state, and without those that do not."""
    groupings = []
    for grouping in program.groupings:
        trees = tuple(tree for tree in grouping.trees if label(grouping, tree) in labels)
        if trees:
            groupings.append(replace(grouping, trees=trees))
    return replace(program, groupings=tuple(groupings))


def _joined(standing: RetainedSlices, program: Program, asked: dict[str, int]) -> dict[str, int]:
    woven = [query for grouping in program.groupings for tree in grouping.trees for query in tree.queries]
    queries: list[QueryProgram | Unshared] = [*woven, *program.unshared]
    return {query.id: asked[query.label] for query in queries if query.label not in standing.answered_after}
