"""The plan in force of a stream: the champion, planned first where none fits the catalog."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.host.say import Say
from jobs.host.settings import Settings
from jobs.plans.replan import Wish, replan
from jobs.tracking.registry import Version, champion, plan_of
from jobs.tracking.store import Store, open_store
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.write import write_atomically
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan


@dataclass(frozen=True)
class ChampionFile:
    """The plan in force, as a file that a submitted job can read."""

    path: str
    version: int


def champion_file(place: Settings, catalog: Catalog, stream: str, say: Say) -> ChampionFile:
    """Write the plan in force below the platform's home; a stream whose champion does not fit is planned first."""
    version, plan = plan_in_force(open_store(place), catalog, stream, say)
    path = place.below("plans", stream, f"{version.plan}.json")
    write_atomically(path, plan.to_json().encode())
    return ChampionFile(str(path), version.number)


def plan_in_force(store: Store, catalog: Catalog, stream: str, say: Say) -> tuple[Version, Plan]:
    """Return the champion and its plan; a stream whose champion does not fit the catalog is planned first."""
    now = champion(store, stream)
    if now is None or now.catalog != catalog.fingerprint(stream):
        say(f"{stream}: no champion fits the catalog, so it is planned now")
        replan(store, catalog, Wish(stream), say)
        now = champion(store, stream)
    if now is None:
        raise HeddleError(f"stream {stream} has no champion; run heddle replan")
    return now, plan_of(store, now)
