"""Once results must be audited, none is seen, merged or lost before its audit."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.engine.warehouse.ledger import Ledger, discard, newest_ledger, release, require_audit, settle
from jobs.engine.warehouse.manifest import DataFile, newest
from jobs.engine.warehouse.result_files import MERGE_AT
from jobs.results import results_table
from optimizer.errors import HeddleError
from tests.worlds.audited import AuditedWorld, make_world


@pytest.fixture
def world(tmp_path: Path) -> AuditedWorld:
    return make_world(tmp_path)


def seen(world: AuditedWorld) -> int:
    return int(results_table(world.warehouse, world.catalog, "total").num_rows)


def advance(world: AuditedWorld, number: int) -> None:
    world.arrive(number, number)
    world.evaluate()


def test_without_a_ledger_everything_is_published(world: AuditedWorld) -> None:
    advance(world, 0)
    advance(world, 1)
    assert seen(world) > 0
    assert newest_ledger(world.storage).pending(newest(world.storage).results) == ()


def test_batches_become_visible_when_they_pass_and_only_then(world: AuditedWorld) -> None:
    require_audit(world.storage)
    for number in (0, 1):
        advance(world, number)
    assert seen(world) == 0
    ledger, manifest = newest_ledger(world.storage), newest(world.storage)
    advance(world, 2)
    settle(world.storage, ledger, manifest, passed=True)
    published = seen(world)
    assert published > 0
    settle(world.storage, newest_ledger(world.storage), newest(world.storage), passed=True)
    assert seen(world) > published


def test_what_was_there_before_the_ledger_stays_published(world: AuditedWorld) -> None:
    advance(world, 0)
    advance(world, 1)
    before = seen(world)
    assert require_audit(world.storage) == require_audit(world.storage)
    advance(world, 2)
    assert seen(world) == before


def test_a_refused_batch_waits_for_a_person(world: AuditedWorld) -> None:
    require_audit(world.storage)
    advance(world, 0)
    advance(world, 1)
    settle(world.storage, newest_ledger(world.storage), newest(world.storage), passed=False)
    advance(world, 2)
    settle(world.storage, newest_ledger(world.storage), newest(world.storage), passed=True)
    later = seen(world)
    assert later > 0
    with pytest.raises(HeddleError, match=r"batch 2 is not quarantined; .*1 is"):
        discard(world.storage, 2)
    discard(world.storage, 1)
    assert seen(world) == later
    release(world.storage, 1)
    assert seen(world) > later
    with pytest.raises(HeddleError, match="batch 1 is not quarantined or discarded; 0 is"):
        release(world.storage, 1)


def test_two_checks_at_once_cannot_both_decide(world: AuditedWorld) -> None:
    require_audit(world.storage)
    advance(world, 0)
    advance(world, 1)
    ledger, manifest = newest_ledger(world.storage), newest(world.storage)
    settle(world.storage, ledger, manifest, passed=False)
    with pytest.raises(HeddleError, match="another check"):
        settle(world.storage, ledger, manifest, passed=True)
    assert seen(world) == 0


def test_unpublished_files_are_not_merged(world: AuditedWorld) -> None:
    require_audit(world.storage)
    for number in range(MERGE_AT + 1):
        world.arrive(number, number)
    world.evaluate(files_per_batch=1)
    held = newest(world.storage).results
    assert all(file.tier == 0 for file in held)
    settle(world.storage, newest_ledger(world.storage), newest(world.storage), passed=True)
    published = seen(world)
    advance(world, MERGE_AT + 1)
    assert any(file.tier for file in newest(world.storage).results)
    assert seen(world) == published
    settle(world.storage, newest_ledger(world.storage), newest(world.storage), passed=True)
    assert seen(world) > published


def test_a_damaged_ledger_publishes_nothing(world: AuditedWorld) -> None:
    require_audit(world.storage)
    advance(world, 0)
    Path(world.storage.path("ledger/000000000000.json")).write_text("{")
    with pytest.raises(HeddleError, match="the ledger is damaged"):
        seen(world)


def test_files_are_public_when_entered_or_merged() -> None:
    files = [DataFile("a", 0, 1, 0), DataFile("b", 0, 1, 1), DataFile("c", 0, 1, 2, tier=1)]
    ledger = Ledger(0, 0, ("a",))
    assert [file.name for file in ledger.public(files)] == ["a", "c"]
    assert [file.name for file in ledger.pending(files)] == ["b"]
