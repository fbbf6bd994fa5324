"""Everything the page shows of a stream, read from the catalog, the warehouse and the tracking store; the templates.

Everything in a template is escaped unless it is the template's own text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from jobs.engine.warehouse.ledger import newest_ledger
from jobs.engine.warehouse.lifecycle import KEPT_MANIFESTS, plan_in_force, stream_storage
from jobs.engine.warehouse.manifest import load_past, manifest_names, newest
from jobs.host.settings import Settings
from jobs.host.storage import Storage
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError
from optimizer.plan.explain import cost_text
from plugins.heddle_page.read.audits import AuditRecord, last_audits
from plugins.heddle_page.read.batches import (
    Batch,
    LateEvents,
    Progress,
    UnpublishedBatch,
    last_batches,
    progress,
    read_late_events,
    unpublished_batches,
)
from plugins.heddle_page.read.catalogs import catalog_of, streams_of
from plugins.heddle_page.read.history import (
    Measurement,
    PlanVersion,
    TrackedPlans,
    mean_deviation,
    measurements,
    read_tracked_plans,
)
from plugins.heddle_page.view.charts import deviation_chart, saving_chart
from plugins.heddle_page.view.plan import PlanView, plan_view


@dataclass
class Page:
    """One stream; what could not be read is said in `notes` instead of failing the whole page."""

    at: datetime
    streams: list[str]
    stream: str = ""
    plan: PlanView | None = None
    planned: PlanVersion | None = None  # the version that `plan` is, with its run
    history: list[PlanVersion] = field(default_factory=list)
    measurements: list[Measurement] = field(default_factory=list)
    audits: list[AuditRecord] = field(default_factory=list)
    progress: Progress | None = None
    batches: list[Batch] = field(default_factory=list)
    unpublished: list[UnpublishedBatch] = field(default_factory=list)
    late: LateEvents = field(default_factory=LateEvents)
    notes: list[str] = field(default_factory=list)


def read_page(settings: Settings, stream: str | None = None, version: int | None = None) -> Page | None:
    """Read all about a stream, the first one when none is named; None when there is no such stream or version."""
    catalog, notes = catalog_of(settings)
    streams = streams_of(settings, catalog)
    page = Page(datetime.now(UTC), streams, notes=notes)
    if stream is None and not streams:
        return page
    page.stream = stream or streams[0]
    if page.stream not in streams:
        return None
    storage = stream_storage(settings.warehouse, page.stream)
    _add_batches(page, storage)
    tracked = read_tracked_plans(settings, page.stream, version)
    page.notes += tracked.notes
    if version is not None and tracked.chosen is None:
        return None
    _add_history(page, tracked)
    _add_plan(page, storage, catalog, tracked)
    return page


def _add_batches(page: Page, storage: Storage) -> None:
    try:
        ledger = newest_ledger(storage)  # before the manifest: what an entry leaves out was merged by then
        manifest = newest(storage)
    except HeddleError as error:
        page.notes.append(str(error))
        return
    past = list(load_past(storage, manifest_names(storage)[-KEPT_MANIFESTS:]))
    page.progress = progress(manifest, ledger)
    page.batches = last_batches(past)
    page.unpublished = unpublished_batches(manifest, ledger)
    page.late = read_late_events(storage, manifest)
    page.audits = last_audits(storage)


def _add_history(page: Page, tracked: TrackedPlans) -> None:
    page.history = tracked.history
    page.planned = tracked.chosen
    page.measurements = measurements(tracked.evaluations)


def _add_plan(page: Page, storage: Storage, catalog: Catalog | None, tracked: TrackedPlans) -> None:
    """Show the registered plan; in a warehouse that nobody tracks, the plan of the newest batch."""
    plan = tracked.plan
    try:
        running = plan_in_force(storage, newest(storage))
    except HeddleError as error:
        page.notes.append(str(error))
        return
    if plan is None:
        plan = running
    elif tracked.chosen and tracked.chosen.champion and running and running.fingerprint() != plan.fingerprint():
        page.notes.append("The plan below takes over with the next batch; the last one was evaluated by another.")
    if plan is not None:
        page.plan = plan_view(plan, catalog)


def show(template: str, **values: Any) -> str:
    """Return a template filled in with values."""
    return ENVIRONMENT.get_template(template).render(values)


def when(moment: datetime | None) -> Markup:
    """Return a moment as HTML, for people and for machines."""
    if moment is None:
        return Markup("&ndash;")
    return Markup('<time datetime="{}">{:%Y-%m-%d %H:%M:%S}</time>').format(moment.isoformat(), moment)


def percent(share: float | None) -> str:
    """Return a share as people read it."""
    return "\N{EN DASH}" if share is None else f"{share:.1%}"


def count_text(number: float) -> str:
    """Return a count with commas between its thousands."""
    return f"{number:,.0f}"


ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
ENVIRONMENT.filters |= {
    "when": when,
    "percent": percent,
    "counted": count_text,
    "cost": cost_text,
    "mean_deviation": mean_deviation,
    "saving_chart": saving_chart,
    "deviation_chart": deviation_chart,
}
