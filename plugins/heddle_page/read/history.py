"""What the tracking store remembers of a stream: registered plans, and the runs that made and evaluated them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from jobs.host.settings import Settings
from jobs.tracking.past import run_rows
from jobs.tracking.registry import Version, champion, history, plan_of
from jobs.tracking.store import Store, open_store
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan
from plugins.heddle_page.read.links import run_link

LISTED = 60  # versions that the history shows
EVALUATIONS = 20


@dataclass(frozen=True)
class Planned:
    """A registered plan, in the figures that its version carries."""

    number: int
    at: datetime
    strategy: str
    technique: str
    queries: int
    trees: int
    cost: float
    no_share_cost: float
    saving: float
    champion: bool
    promoted: bool  # whether it has ever been in force
    run: str
    link: str  # to MLflow's page of the run; "" when nobody said where that is


@dataclass
class Tracked:
    """All of it; empty where nothing is tracked."""

    history: list[Planned] = field(default_factory=list)
    chosen: Planned | None = None
    plan: Plan | None = None
    evaluations: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def tracked(settings: Settings, stream: str, version: int | None = None) -> Tracked:
    """The champion, or the version of a number, with the history around it. Reading creates nothing."""
    try:
        store = reading(settings)
        return _read(store, stream, version) if store and known(store, stream) else Tracked()
    except Exception as error:  # whatever MLflow's client meets, the warehouse's part of the page is still good
        return Tracked(notes=[f"MLflow at {settings.tracking} cannot be read: {_first_line(error)}"])


def reading(settings: Settings) -> Store | None:
    """The store, unless it would have to be made."""
    file = settings.tracking.removeprefix("sqlite:///")
    if file != settings.tracking and not Path(file).exists():
        return None
    return _open(settings)


def known(store: Store, stream: str) -> str:
    """The id of the stream's experiment; "" when it has none."""
    found = store.client.get_experiment_by_name(f"heddle/{stream}")
    return str(found.experiment_id) if found else ""


@lru_cache(maxsize=2)
def _open(settings: Settings) -> Store:
    return open_store(settings)


def _read(store: Store, stream: str, number: int | None) -> Tracked:
    versions = history(store, stream)
    wanted = champion(store, stream) if number is None else next((v for v in versions if v.number == number), None)
    experiment = known(store, stream)
    found = Tracked(
        [_planned(version, experiment) for version in versions[:LISTED]],
        _planned(wanted, experiment) if wanted else None,
        evaluations=run_rows(store, stream, "evaluation", EVALUATIONS),
    )
    if wanted:
        try:
            found.plan = plan_of(store, wanted)
        except (HeddleError, OSError) as error:
            found.notes.append(f"the plan of version {wanted.number} cannot be read: {_first_line(error)}")
    return found


def _planned(version: Version, experiment: str) -> Planned:
    return Planned(
        version.number,
        version.registered,
        version.strategy,
        version.technique,
        version.queries,
        version.trees,
        version.cost,
        version.no_share_cost,
        version.saving,
        version.champion,
        bool(version.promoted),
        version.run,
        run_link(experiment, version.run),
    )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
