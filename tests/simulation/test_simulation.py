"""The protocol holds in many episodes, and each way to break it is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from jobs.engine.batch import adopt, carry, run_batch
from jobs.engine.sources.contract import File
from jobs.engine.warehouse import consumed_files, ledger, lifecycle, manifest, outbox
from jobs.runs import log_batches, run
from tests.simulation import episode
from tests.simulation.episode import Episode, play_episode
from tests.simulation.memory_storage import MemoryStorage
from tests.simulation.sinks import MemorySink
from tests.simulation.tasks import Broken

EPISODES = 60
Write = Callable[[outbox.Publication], None]


def play_episodes(first: int, count: int) -> list[int]:
    """Return the steps of some episodes."""
    return [play_episode(seed) for seed in range(first, first + count)]


def test_nothing_breaks_and_a_seed_replays_exactly() -> None:
    steps = play_episodes(0, EPISODES)
    assert play_episodes(0, 3) == steps[:3]
    assert sum(steps) > 100 * EPISODES


def test_processes_meet_die_and_are_refused() -> None:
    """What is to be survived does happen."""
    episodes = [Episode(seed) for seed in range(20)]
    for each in episodes:
        each.play()
    assert sum(each.refusals for each in episodes) > 20
    assert any(each.shares_lock for each in episodes)
    assert sum(len(each.seen) for each in episodes) > 20
    assert sum(len(each.sinks) for each in episodes) > 10
    assert sum(len(sink.rows) for each in episodes for sink in each.sinks) > 100
    notes = [note for each in episodes for note in each.notes]
    for what in ("trees carry on, 0 are rebuilt", "0 trees carry on, 1 is rebuilt", "query c is complete"):
        assert any(what in note for note in notes), what


def overwrite(storage: MemoryStorage, name: str, content: bytes) -> bool:
    """Create a file even if it is there: no fencing."""
    storage.scheduler.step()
    storage.files[name] = content
    storage.scheduler.step()
    return True


def skip_fencing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MemoryStorage, "create", overwrite)


def commit_before_results_are_written(patch: pytest.MonkeyPatch) -> None:
    """Write the files of a batch some steps after its manifest."""
    unwritten: dict[str, bytes] = {}
    create = MemoryStorage.create

    def create_later(storage: MemoryStorage, name: str, content: bytes) -> bool:
        if name.startswith(("results/", "state/")):
            unwritten[name] = content
            return True
        is_created = create(storage, name, content)
        if name.startswith("manifests/"):
            storage.scheduler.step()
            storage.files.update(unwritten)
            unwritten.clear()
        return is_created

    patch.setattr(MemoryStorage, "create", create_later)


def forget_the_record(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(log_batches, "add_record", lambda storage, records, batch, files: list(records))


def ignore_who_recorded_first(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(consumed_files, "require_own_record", lambda storage, batch, is_created: None)


def sweep_what_readers_read(patch: pytest.MonkeyPatch) -> None:
    def sweep(storage: MemoryStorage, current: manifest.Manifest, listing: lifecycle.Listing) -> int:
        named = current.files()
        for name in [name for name in storage.files if name.startswith("results/") and name not in named]:
            del storage.files[name]
        return 0

    patch.setattr(run, "sweep", sweep)


def sweep_the_work_of_others(patch: pytest.MonkeyPatch) -> None:
    """Take every file that no manifest names for one that a crash left behind."""

    def sweep(storage: MemoryStorage, current: manifest.Manifest, listing: lifecycle.Listing) -> int:
        return lifecycle.sweep(storage, current, lifecycle.list_data(storage, manifest.Manifest()))

    patch.setattr(run, "sweep", sweep)


def sweep_without_a_commit(patch: pytest.MonkeyPatch) -> None:
    """Take what was there a while ago for dead, though other runs could still commit it."""
    patch.setattr(run, "list_data", lambda storage, current: lifecycle.list_data(storage, manifest.Manifest()))


def forget_what_was_published(patch: pytest.MonkeyPatch) -> None:
    enter = ledger._next
    patch.setattr(ledger, "_next", lambda storage, entry, now, published: enter(storage, entry, now, [*published][-1:]))


def take_the_watermark_back(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("jobs.engine.batch.run_batch.watermark", lambda before, program: before.latest - program.lateness - 5)


def forget_what_a_compact_record_tells(patch: pytest.MonkeyPatch) -> None:
    """Look at records of committed batches alone, though that of the next one is the only one left."""

    def load_committed(storage: MemoryStorage, current: manifest.Manifest) -> dict[str, tuple[int, File]]:
        records = [one for one in consumed_files.load_records(storage) if one.batch <= current.batch]
        return {path: entry for record in records for path, entry in record.by_file()}

    patch.setattr(consumed_files, "consumed_files", load_committed)


def carry_what_does_not_fit(patch: pytest.MonkeyPatch) -> None:
    """Take slices over that are cut at other times."""
    patch.setattr(carry, "contains", lambda edges, others: True)


def leave_old_slices_behind(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(adopt, "_carry", lambda *parts: run_batch.Outcome())


def answer_what_a_query_has_missed(patch: pytest.MonkeyPatch) -> None:
    """Answer a query that has joined in windows from before, too, as far as slices tell."""
    patch.setattr(run_batch, "joined_queries", lambda storage, before: {})


def mark_before_a_sink_has_it(patch: pytest.MonkeyPatch) -> None:
    def hand_over(storage: MemoryStorage, reader: str, waiting: Sequence[outbox.Publication], write: Write) -> None:
        for publication in waiting:
            outbox.mark(storage, reader, publication.number)
            write(publication)

    patch.setattr(episode, "hand_over", hand_over)


def let_a_sink_forget_its_number(patch: pytest.MonkeyPatch) -> None:
    write = MemorySink.write

    def write_again(sink: MemorySink, publication: outbox.Publication) -> None:
        sink.last = -1
        write(sink, publication)

    patch.setattr(MemorySink, "write", write_again)


def let_a_sink_begin_twice(patch: pytest.MonkeyPatch) -> None:
    """Begin with all answers, whoever else lets the sink begin at the same time."""
    patch.setattr(outbox, "_publications", lambda storage: iter(()))


def deliver_what_nobody_audited(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(outbox, "newest_ledger", lambda storage: ledger.Ledger())


def merge_what_waits(patch: pytest.MonkeyPatch) -> None:
    """Merge published files before they are entered in the outbox."""
    patch.setattr(run_batch, "mergeable_files", lambda storage, public: tuple(public))


def sweep_what_waits(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(outbox, "waiting_files", lambda storage: set())


def forget_what_waits(patch: pytest.MonkeyPatch) -> None:
    """Forget publications as soon as one of the sinks has them."""
    forget = outbox.forget_publications
    patch.setattr(outbox, "forget_publications", lambda storage, readers: forget(storage, [*readers][:1]))


# each with a seed from which on few episodes are needed to find it
MUTATIONS: dict[Callable[[pytest.MonkeyPatch], None], int] = {
    skip_fencing: 0,
    commit_before_results_are_written: 15,
    forget_the_record: 0,
    ignore_who_recorded_first: 265,
    sweep_what_readers_read: 0,
    sweep_the_work_of_others: 0,
    sweep_without_a_commit: 40,
    forget_what_was_published: 0,
    take_the_watermark_back: 0,
    forget_what_a_compact_record_tells: 0,
    carry_what_does_not_fit: 0,
    leave_old_slices_behind: 0,
    answer_what_a_query_has_missed: 35,
    mark_before_a_sink_has_it: 0,
    let_a_sink_forget_its_number: 0,
    let_a_sink_begin_twice: 10,
    deliver_what_nobody_audited: 0,
    merge_what_waits: 50,
    sweep_what_waits: 185,
    forget_what_waits: 90,
}


@pytest.mark.parametrize(("break_protocol", "first"), MUTATIONS.items(), ids=lambda part: getattr(part, "__name__", ""))
def test_a_broken_protocol_is_found(
    monkeypatch: pytest.MonkeyPatch, break_protocol: Callable[[pytest.MonkeyPatch], None], first: int
) -> None:
    break_protocol(monkeypatch)
    with pytest.raises(Broken, match=r"make simulate SEED=\d+"):
        play_episodes(first, 400)
