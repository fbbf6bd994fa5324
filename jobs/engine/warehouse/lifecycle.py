"""A stream's warehouse: opened by one run at a time, and swept of what crashed runs left behind."""

from __future__ import annotations

import math
import time
from contextlib import AbstractContextManager
from typing import Final, Literal, NamedTuple

from jobs.engine.warehouse import outbox, result_files, state_files
from jobs.engine.warehouse.manifest import FOLDER, Manifest, load_past, manifest_names, newest
from jobs.host.storage import Storage, lock_folder
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan

Engine = Literal["spark", "local"]
CHECKPOINT = "checkpoint"  # Spark's record of the files that its batches consumed
TAKEN = "taken"  # our own record, with the size and time of every file
PLANS = "plans"
DATA_FOLDERS = (result_files.FOLDER, state_files.FOLDER, result_files.LATE_FOLDER, state_files.RETAINED_FOLDER)
SMALL_FOLDERS = (FOLDER, PLANS, TAKEN, state_files.RETAINED_FOLDER, outbox.FOLDER, outbox.MARKS)
DRAFT_SECONDS = (
    86_400  # where processes cannot be locked out: older drafts, each of which lives for a moment, are nobody's
)
KEPT_MANIFESTS = 8  # their files stay too, so that whoever is reading the results of a moment ago can finish


def stream_storage(warehouse: str, stream: str) -> Storage:
    """Return where one stream's state, results and manifests are."""
    return Storage(f"{warehouse.rstrip('/')}/{stream}")


def only_run(storage: Storage) -> AbstractContextManager[None]:
    """Hold the warehouse for one run. Elsewhere than on a local disk, the manifests alone keep runs apart."""
    busy = "another run (process {}) is evaluating this stream; wait until it ends"
    return lock_folder(storage, "choose another --warehouse", busy)


def claim(storage: Storage, engine: Engine, current: Manifest) -> None:
    """Refuse a warehouse whose record of taken files is the other engine's, or does not fit its manifests."""
    if current.backfill:
        raise HeddleError(f"{storage.root}: holds a backfill, which cannot go on; choose another --warehouse")
    by_spark, by_anyone = any(storage.names(CHECKPOINT)), any(storage.names(TAKEN))
    if by_spark if engine == "local" else by_anyone and not by_spark:
        how = "with --local" if engine == "spark" else "without --local"
        raise HeddleError(f"{storage.root}: has been evaluated {how}; go on {how}, or choose another --warehouse")
    if engine == "local":
        return
    commits = [int(name.rpartition("/")[2]) for name in storage.names(f"{CHECKPOINT}/commits") if _is_number(name)]
    if max(commits, default=-1) > current.batch:
        raise HeddleError(f"{storage.root}: manifests are missing; restore them from a backup, then run again")
    if current.batch >= 0 and not any(storage.names(f"{CHECKPOINT}/offsets")):
        raise HeddleError(f"{storage.root}: the folder {CHECKPOINT} is missing; restore it from a backup")


def _is_number(name: str) -> bool:
    return name.rpartition("/")[2].isdigit()


def evaluated_manifest(warehouse: str, stream: str) -> Manifest:
    """Load the manifest of a stream, and refuse one that has not been evaluated."""
    manifest = newest(stream_storage(warehouse, stream))
    if manifest.batch < 0:
        raise HeddleError(
            f"stream {stream} has not been evaluated in {warehouse} yet; "
            f"run heddle evaluate CATALOG --stream {stream} --warehouse {warehouse}"
        )
    return manifest


def keep_plan(storage: Storage, plan: Plan) -> None:
    """Keep a plan beside what it evaluates."""
    storage.create(f"{PLANS}/{plan.fingerprint()}.json", plan.to_json().encode())


def plan_in_force(storage: Storage, current: Manifest) -> Plan | None:
    """Load the plan of the newest batch, if there is one."""
    name = f"{PLANS}/{current.plan}.json"
    return Plan.from_json(storage.read(name).decode()) if current.plan and storage.exists(name) else None


class Listing(NamedTuple):
    """The data files that were there when a run knew of no manifest after this one."""

    sequence: int
    names: tuple[str, ...]


NOTHING: Final = Listing(-1, ())


def list_data(storage: Storage, current: Manifest) -> Listing:
    """List the data files that are there, be they of batches that died or are under way."""
    return Listing(current.sequence, tuple(name for folder in DATA_FOLDERS for name in storage.names(folder)))


def sweep(storage: Storage, current: Manifest, listing: Listing = NOTHING) -> int:
    """Delete data files that no manifest of the last few names, and manifests that are only history.

    A lock keeps other runs away from a local disk. Elsewhere a file may belong to another run's batch that is not
    committed yet. Once this run has committed, it cannot be any more if that batch began before: the sequence is taken.
    So what was listed before the commit, and none of the last manifests names, is nobody's."""
    if storage.local:
        listing = list_data(storage, current)
    elif current.sequence <= listing.sequence or not listing.names:
        return 0
    names = manifest_names(storage)
    named = current.files().union(*(past.files() for past in load_past(storage, names[-KEPT_MANIFESTS:])))
    named |= outbox.waiting_files(storage)
    orphans = [name for name in listing.names if name not in named]
    before = math.inf if storage.local else time.time() - DRAFT_SECONDS
    drafts = [name for folder in SMALL_FOLDERS for name in storage.drafts(folder, before)]
    for name in (*orphans, *names[:-KEPT_MANIFESTS], *drafts):
        storage.delete(name)
    return len(orphans)
