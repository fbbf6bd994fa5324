"""A new plan takes over between two batches, and no answer is lost or changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jobs.engine.batch.adopt import adopt
from jobs.engine.batch.carry import is_served_by
from jobs.engine.batch.run_batch import PastEvents, close, commit_empty_batch, recompute_batch, run_batch
from jobs.engine.events.parquet import Split
from jobs.engine.sources import list_input_files
from jobs.engine.sources.contract import File
from jobs.engine.warehouse.consumed_files import PastBatch, RawEvents
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import Manifest, newest
from jobs.engine.warehouse.state_files import load_retained
from jobs.engine.work import Executor
from jobs.runs.in_process import in_process, replay_in_process
from tests.jobs.engine.runs import answers_in
from tests.worlds.streams import SECOND, Row, odd_row
from tests.worlds.warehouse import STREAM, World, make_world, query

SUM = query("sum", "sum(n)", 6 * SECOND, 2 * SECOND)
MOST = query("most", "max(n)", 4 * SECOND, 4 * SECOND)


@dataclass(frozen=True)
class OneProcess:
    """Executors in this process."""

    def execute(self, files: Sequence[File]) -> Executor:
        return in_process([Split(file.path, file.size) for file in files])

    def execute_alone(self, files: Sequence[File]) -> Executor:
        return self.execute(files)

    def replay(self, batches: Sequence[PastBatch]) -> Executor:
        return replay_in_process([(past, [Split(file.path, file.size) for file in past.files]) for past in batches])


def events(first: int, last: int) -> list[Row]:
    return [odd_row(second * SECOND, 0) | {"n": second} for second in range(first, last)]


def world_of(folder: Path, *queries: dict[str, object]) -> tuple[World, list[File]]:
    world = make_world(folder, [events(0, 10), events(10, 20)], queries, 0)
    return world, list_input_files(world.catalog.streams[STREAM])


def test_slices_carry_on_and_new_ones_are_rebuilt(tmp_path: Path) -> None:
    old, files = world_of(tmp_path / "old", SUM)
    new, _ = world_of(tmp_path / "new", SUM, MOST)
    storage, executors = stream_storage(str(tmp_path / "warehouse"), STREAM), OneProcess()
    first = run_batch(storage, Manifest(buckets=1), old.program(old.plan()), 0, executors.execute(files[:1]))
    first = close(storage, first, old.program(old.plan()), executors.execute([]))
    assert first.watermark == 9 * SECOND

    plan = new.plan("no_share")
    program = new.program(plan)
    reaches: list[int] = []

    def raw_since(since: int) -> RawEvents:
        reaches.append(since)
        return RawEvents([PastBatch(0, first.watermark, files[:1])])

    adopted = adopt(storage, first, program, raw_since, executors)
    assert (adopted.carried, adopted.rebuilt, adopted.events) == (1, 1, 10)
    assert adopted.joined == {"most": 9 * SECOND}
    assert reaches == [9 * SECOND - 4 * SECOND + 1], "as far back as the longest window that may still end"
    assert newest(storage) == adopted.manifest
    assert is_served_by(program, load_retained(storage, adopted.manifest.standing))

    second = run_batch(storage, adopted.manifest, program, 1, executors.execute(files[1:]))
    second = close(storage, second, program, executors.execute([]))
    answers = answers_in(new, storage, second, plan)
    starts = range(-4, 14, 2)
    assert answers["sum"] == {
        ((), start * SECOND): sum(n for n in range(20) if start <= n < start + 6) for start in starts
    }
    assert answers["most"] == {((), 8 * SECOND): 11, ((), 12 * SECOND): 15}, "windows that end after it has joined"


def test_a_batch_of_the_past_is_recomputed(tmp_path: Path) -> None:
    world, files = world_of(tmp_path, SUM)
    plan = world.plan()
    program, executors = world.program(plan), OneProcess()
    storage = stream_storage(str(tmp_path / "warehouse"), STREAM)
    first = run_batch(storage, Manifest(buckets=1), program, 0, executors.execute(files[:1]), last=True)
    second = run_batch(storage, first, program, 1, executors.execute(files[1:]), last=True)
    span = (first.watermark, second.watermark)
    written = recompute_batch(storage, second, program, 1, span, PastEvents(files), executors)
    assert [file.batch for file in written] == [1]
    emitted = [file for file in second.results if file.batch == 1]
    recomputed, original = (
        answers_in(world, storage, Manifest(results=tuple(files)), plan) for files in (written, emitted)
    )
    assert recomputed == original != {"sum": {}}
    assert newest(storage).sequence == second.sequence, "nothing is committed"


def test_a_batch_that_brought_nothing(tmp_path: Path) -> None:
    storage = stream_storage(str(tmp_path), STREAM)
    after = commit_empty_batch(storage, Manifest(sequence=3, batch=2, watermark=5, latest=9, buckets=1), 3)
    assert (after.sequence, after.batch, after.watermark, after.latest) == (4, 3, 5, 9)
    assert after.counts["events"] == 0
    assert newest(storage) == after
