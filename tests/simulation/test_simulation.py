"""The protocol holds in many episodes, and each way to break it is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jobs.engine.warehouse import consumed_files, ledger, lifecycle, manifest
from jobs.runs import log_batches, run
from tests.simulation.episode import Broken, Episode, play_episode
from tests.simulation.memory_storage import MemoryStorage

EPISODES = 60


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


# each with a seed from which on few episodes are needed to find it
MUTATIONS: dict[Callable[[pytest.MonkeyPatch], None], int] = {
    skip_fencing: 0,
    commit_before_results_are_written: 0,
    forget_the_record: 0,
    ignore_who_recorded_first: 30,
    sweep_what_readers_read: 0,
    sweep_the_work_of_others: 30,
    sweep_without_a_commit: 300,
    forget_what_was_published: 0,
    take_the_watermark_back: 30,
}


@pytest.mark.parametrize(("break_protocol", "first"), MUTATIONS.items(), ids=lambda part: getattr(part, "__name__", ""))
def test_a_broken_protocol_is_found(
    monkeypatch: pytest.MonkeyPatch, break_protocol: Callable[[pytest.MonkeyPatch], None], first: int
) -> None:
    break_protocol(monkeypatch)
    with pytest.raises(Broken, match=r"make simulate SEED=\d+"):
        play_episodes(first, 400)
