"""A platform that has run for a while: audited batches, late events, a quarantine, plans and runs in MLflow."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from expectations.check import Audit
from expectations.data_docs import write_docs
from expectations.suites.validate import Check
from jobs.engine.warehouse.ledger import newest_ledger, require_audit, settle
from jobs.engine.warehouse.manifest import newest
from jobs.host.settings import Settings, settings
from jobs.tracking.evaluations import Evaluation, log_evaluation
from jobs.tracking.store import open_store
from optimizer.planning.stream import plan_stream
from tests.worlds.audited import AuditedWorld, make_world
from tests.worlds.platform import replanned
from tests.worlds.warehouse import STREAM

HOSTILE = "<script>alert(1)</script>"
KEY = "manual__1"


@dataclass(frozen=True)
class BusyPlatform:
    """The platform's settings, and the last plan that was registered."""

    settings: Settings
    champion: str
    rejected: int


def make_busy_platform(folder: Path) -> BusyPlatform:
    """Three batches: the first two passed their audits, the third did not."""
    world = make_world(folder)
    place = settings({"HEDDLE_HOME": str(folder)})
    require_audit(world.storage)
    for number, passed in enumerate((True, True, False)):
        world.arrive(number, seed=number)
        report = world.evaluate()
        settle(world.storage, newest_ledger(world.storage), newest(world.storage), passed)
        _write_audit(world, passed)
    store = open_store(place)
    best = plan_stream(world.catalog, STREAM, 3.0, "cascade", "two_stacks_block")
    for strategy in ("shared", "no_share"):
        plan = plan_stream(world.catalog, STREAM, 3.0, strategy, "two_stacks_block")
        replanned(store, world.catalog, plan, key=f"{STREAM}/{strategy}")
    version, _ = replanned(store, world.catalog, best, key=f"replan/{KEY}/{STREAM}")
    rejected, _ = replanned(store, world.catalog, plan_stream(world.catalog, STREAM, 3.0, "no_share", "daba"))
    for seconds, estimated in ((0.5, None), (0.8, 0.6)):
        measured = {**report.to_dict(), "step_seconds": {"feed": seconds / 2, "finals": seconds / 2}}
        measured |= {"estimated_seconds": estimated, "started": measured["started"] + seconds}  # one after the other
        log_evaluation(store, Evaluation(world.catalog, best, measured, version=version.number))
    return BusyPlatform(place, best.fingerprint(), rejected.number)


def _write_audit(world: AuditedWorld, passed: bool) -> None:
    """What `heddle check` leaves behind; a failing row holds whatever the stream's keys hold."""
    row = {"query": "total", "k": HOSTILE, "engine": 1.0, "spark": 2.0}
    check = Check("comparison", "answers are equal", passed, 30, 0 if passed else 1, [] if passed else [row])
    audit = Audit(STREAM, 3, 12, 30, [check])
    sequence = newest(world.storage).sequence
    write_docs(audit, world.storage.path(f"docs/{sequence:012d}"))
