"""Everything the page shows of a stream, read from the catalog, the warehouse and the tracking store."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from jobs.engine.warehouse.ledger import newest_ledger
from jobs.engine.warehouse.lifecycle import KEPT_MANIFESTS, plan_in_force, stream_storage
from jobs.engine.warehouse.manifest import load_past, manifest_names, newest
from jobs.host.settings import Settings
from jobs.host.storage import Storage
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError
from plugins.heddle_page.read.audits import AuditRecord, audits
from plugins.heddle_page.read.batches import Batch, Held, Progress, batches, held, progress
from plugins.heddle_page.read.catalogs import catalog_of, streams_of
from plugins.heddle_page.read.history import Planned, Tracked, tracked
from plugins.heddle_page.read.late_events import Late, late
from plugins.heddle_page.read.measured import Measurement, measurements
from plugins.heddle_page.view.plan import PlanView, plan_view


@dataclass
class Page:
    """One stream; what could not be read is said in `notes` instead of failing the whole page."""

    at: datetime
    streams: list[str]
    stream: str = ""
    plan: PlanView | None = None
    planned: Planned | None = None  # the version that `plan` is, with its run
    history: list[Planned] = field(default_factory=list)
    measurements: list[Measurement] = field(default_factory=list)
    audits: list[AuditRecord] = field(default_factory=list)
    progress: Progress | None = None
    batches: list[Batch] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    late: Late = field(default_factory=Late)
    notes: list[str] = field(default_factory=list)


def gather(settings: Settings, stream: str | None = None, version: int | None = None) -> Page | None:
    """The page of a stream, the first one when none is named; None when there is no such stream or version."""
    catalog, notes = catalog_of(settings)
    streams = streams_of(settings, catalog)
    page = Page(datetime.now(UTC), streams, notes=notes)
    if stream is None and not streams:
        return page
    page.stream = stream or streams[0]
    if page.stream not in streams:
        return None
    storage = stream_storage(settings.warehouse, page.stream)
    _warehouse(page, storage)
    found = tracked(settings, page.stream, version)
    page.notes += found.notes
    if version is not None and found.chosen is None:
        return None
    _tracking(page, found)
    _plan(page, storage, catalog, found)
    return page


def _warehouse(page: Page, storage: Storage) -> None:
    try:
        ledger = newest_ledger(storage)  # before the manifest: what an entry leaves out was merged by then
        manifest = newest(storage)
    except HeddleError as error:
        page.notes.append(str(error))
        return
    past = list(load_past(storage, manifest_names(storage)[-KEPT_MANIFESTS:]))
    page.progress = progress(manifest, ledger)
    page.batches = batches(past)
    page.held = held(manifest, ledger)
    page.late = late(storage, manifest)
    page.audits = audits(storage)


def _tracking(page: Page, found: Tracked) -> None:
    page.history = found.history
    page.planned = found.chosen
    page.measurements = measurements(found.evaluations)


def _plan(page: Page, storage: Storage, catalog: Catalog | None, found: Tracked) -> None:
    """The registered plan; in a warehouse that nobody tracks, the plan of the newest batch."""
    plan = found.plan
    try:
        running = plan_in_force(storage, newest(storage))
    except HeddleError as error:
        page.notes.append(str(error))
        return
    if plan is None:
        plan = running
    elif found.chosen and found.chosen.champion and running and running.fingerprint() != plan.fingerprint():
        page.notes.append("The plan below takes over with the next batch; the last one was evaluated by another.")
    if plan is not None:
        page.plan = plan_view(plan, catalog)
