"""Everything the page shows of a stream, read from the catalog, the warehouse and the tracking store.

What could not be read is said in `notes` instead of failing the whole page. The figures of every stream come in the
text format that Prometheus scrapes, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from jobs.engine.warehouse.ledger import Ledger, newest_ledger
from jobs.engine.warehouse.lifecycle import KEPT_MANIFESTS, plan_in_force, stream_storage
from jobs.engine.warehouse.manifest import Manifest, load_past, manifest_names, newest
from jobs.host.settings import Settings
from jobs.host.storage import Storage
from jobs.measure.machine_prices import load_prices
from jobs.sinks.deliver import SinkState, sink_states
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError, did_you_mean
from optimizer.plan.definition import Plan
from optimizer.windows.window import BEGINNING
from plugins.heddle_page.read.answers import Answers, newest_answers
from plugins.heddle_page.read.batches import (
    AuditRecord,
    Backfill,
    Batch,
    LateEvents,
    Progress,
    UnpublishedBatch,
    last_audit_of,
    last_audits,
    last_batches,
    list_backfills,
    progress,
    published_until,
    read_late_events,
    unpublished_batches,
)
from plugins.heddle_page.read.catalogs import catalog_of, streams_of
from plugins.heddle_page.read.history import (
    Measurement,
    PlanVersion,
    TrackedPlans,
    measurements,
    read_tracked_plans,
)
from plugins.heddle_page.view.history import PlanChange, compare_plans
from plugins.heddle_page.view.plan import PlanView, plan_view
from plugins.heddle_page.view.queries import OwnerRow, QueryRow, cost_by_owner, query_rows

METRICS = {  # name: type and help
    "heddle_batch": ("gauge", "Number of the newest batch."),
    "heddle_events": ("gauge", "Events of the last batches that the warehouse remembers."),
    "heddle_results": ("gauge", "Results of the last batches that the warehouse remembers."),
    "heddle_late_events": ("gauge", "Events that came after some of their windows were out."),
    "heddle_published_rows": ("gauge", "Rows that readers see."),
    "heddle_watermark_seconds": ("gauge", "Windows that end up to this time are out (seconds since 1970)."),
    "heddle_lag_seconds": ("gauge", "Seconds from the watermark to now."),
    "heddle_audit_passed": ("gauge", "Whether the last audit passed."),
    "heddle_audit_timestamp_seconds": ("gauge", "When the last audit was made (seconds since 1970)."),
    "heddle_audited_queries": ("gauge", "Queries that some audit has looked at."),
    "heddle_queries": ("gauge", "Queries of the catalog."),
    "heddle_trees": ("gauge", "Trees of the plan in force."),
    "heddle_cpu_milliseconds_per_thousand_events": ("gauge", "Measured in the last evaluation."),
    "heddle_quarantined_batches": ("gauge", "Batches that wait for a decision."),
    "heddle_sink_behind": ("gauge", "Publications that the sink farthest behind has still to get."),
    "heddle_waiting_batches": ("gauge", "Batches that wait for their audit."),
}


class MissingError(HeddleError):
    """There is no such stream, version or query."""


@dataclass(frozen=True)
class Running:
    """A run of a DAG that is under way."""

    dag: str
    run: str
    since: datetime | None


@dataclass
class PlanOnPage:
    """The plan in force or of a version, what changed with it, and the plans before it with their measurements."""

    plan: PlanView | None = None
    planned: PlanVersion | None = None  # the version that `plan` is, with its run
    change: PlanChange | None = None  # from the plan before it
    history: list[PlanVersion] = field(default_factory=list)
    measurements: list[Measurement] = field(default_factory=list)


@dataclass
class BatchesOnPage:
    """How far the stream is, what its batches brought and what became of them, and who has got their answers."""

    progress: Progress | None = None
    until: int = BEGINNING  # every window that ends up to then is published
    batches: list[Batch] = field(default_factory=list)
    audits: list[AuditRecord] = field(default_factory=list)
    unpublished: list[UnpublishedBatch] = field(default_factory=list)
    backfills: list[Backfill] = field(default_factory=list)
    late: LateEvents = field(default_factory=LateEvents)
    sinks: list[SinkState] = field(default_factory=list)


@dataclass
class QueriesOnPage:
    """Every query of the stream, and what each owner's cost together."""

    queries: list[QueryRow] = field(default_factory=list)
    owners: list[OwnerRow] = field(default_factory=list)

    @property
    def covered(self) -> int:
        """How many of the stream's queries some remembered audit has looked at."""
        return sum(query.audit is not None for query in self.queries)


@dataclass(kw_only=True)
class Page(PlanOnPage, BatchesOnPage, QueriesOnPage):
    """What the page of a stream shows. Templates name its parts' fields as its own."""

    at: datetime
    streams: list[str]
    stream: str = ""
    running: Sequence[Running] = ()
    notes: list[str] = field(default_factory=list)


def read_page(settings: Settings, stream: str | None = None, version: int | None = None) -> Page:
    """Read all about a stream, the first one when none is named; raise an error when there is none of the name."""
    catalog, notes = catalog_of(settings)
    streams = streams_of(settings, catalog)
    page = Page(at=datetime.now(UTC), streams=streams, notes=notes)
    if stream is None and not streams:
        return page
    page.stream = stream or streams[0]
    if page.stream not in streams:
        hint = did_you_mean(page.stream, streams, f"there are {', '.join(streams) or 'none'}")
        raise MissingError(f"there is no stream {page.stream!r}; {hint}")
    storage = stream_storage(settings.warehouse, page.stream)
    answers = _add_batches(page, storage, catalog)
    page.backfills = list_backfills(settings, page.stream)
    tracked = read_tracked_plans(settings, page.stream, version)
    page.notes += tracked.notes
    if version is not None and tracked.version is None and not tracked.notes:
        numbers = ", ".join(str(each.number) for each in tracked.history[:10]) or "none"
        raise MissingError(f"stream {page.stream} has no version {version} of its plan; there are {numbers}")
    page.history = tracked.history
    page.planned = tracked.version
    page.measurements = measurements(tracked.evaluations)
    plan = _choose_plan(page, storage, tracked)
    _add_plan(page, catalog, plan, tracked, answers)
    return page


def _add_batches(page: Page, storage: Storage, catalog: Catalog | None) -> dict[str, Answers]:
    try:
        ledger = newest_ledger(storage)  # before the manifest: what an entry leaves out was merged by then
        manifest = newest(storage)
    except HeddleError as error:
        page.notes.append(str(error))
        return {}
    past = list(load_past(storage, manifest_names(storage)[-KEPT_MANIFESTS:]))
    page.progress = progress(manifest, ledger)
    page.until = published_until(manifest, ledger)
    page.batches = last_batches(past)
    page.unpublished = unpublished_batches(manifest, ledger)
    page.late = read_late_events(storage, manifest)
    page.audits = last_audits(storage)
    if catalog is not None and page.stream in catalog.streams:
        page.sinks = sink_states(storage, catalog.streams[page.stream].sinks)
    return _answers(page, storage, catalog, manifest, ledger)


def _answers(
    page: Page, storage: Storage, catalog: Catalog | None, manifest: Manifest, ledger: Ledger
) -> dict[str, Answers]:
    if catalog is None or manifest.sequence < 0:
        return {}
    try:
        return newest_answers(storage, manifest, ledger, catalog, page.stream)
    except (HeddleError, OSError, ValueError) as error:
        page.notes.append(f"the answers cannot be read: {str(error).splitlines()[0][:200]}")
        return {}


def _choose_plan(page: Page, storage: Storage, tracked: TrackedPlans) -> Plan | None:
    """Return the registered plan; in a warehouse that nobody tracks, the plan of the newest batch."""
    try:
        running = plan_in_force(storage, newest(storage))
    except HeddleError as error:
        page.notes.append(str(error))
        return None
    champion = tracked.plan if tracked.version and tracked.version.champion else None
    if champion and running and running.fingerprint() != champion.fingerprint():
        page.notes.append("The plan below takes over with the next batch; the last one was evaluated by another.")
    return tracked.plan or running


def _add_plan(
    page: Page, catalog: Catalog | None, plan: Plan | None, tracked: TrackedPlans, answers: dict[str, Answers]
) -> None:
    """Arrange the plan, what changed with it, and every query with its answers."""
    prices = load_prices()
    if plan is not None:
        page.plan = plan_view(plan, catalog, prices)
        if tracked.before and tracked.plan and page.planned:
            page.change = compare_plans(tracked.before, tracked.plan, (tracked.replaced, page.planned.number), prices)
    if catalog is not None and page.stream in catalog.streams:
        audits = last_audit_of(page.audits)
        page.queries = query_rows(catalog, page.stream, plan, prices, answers, audits, page.until)
        page.owners = cost_by_owner(page.queries)


def metrics_text(settings: Settings) -> str:
    """Return the figures of every stream; a stream that cannot be read is left out."""
    catalog, _ = catalog_of(settings)
    values: dict[str, list[str]] = {name: [] for name in METRICS}
    for stream in streams_of(settings, catalog):
        try:
            page = read_page(settings, stream)
        except HeddleError:
            continue
        for name, value in _figures(page):
            values[name].append(f'{name}{{stream="{stream}"}} {value:.17g}')
    lines = []
    for name, (kind, sentence) in METRICS.items():
        if values[name]:
            lines += [f"# HELP {name} {sentence}", f"# TYPE {name} {kind}", *values[name]]
    return "\n".join(lines) + "\n"


def _figures(page: Page) -> Iterator[tuple[str, float]]:
    """Yield what is known of a stream."""
    yield "heddle_queries", len(page.queries)
    yield "heddle_audited_queries", page.covered
    if page.sinks:
        yield "heddle_sink_behind", max(sink.standing.behind for sink in page.sinks)
    if page.plan:
        yield "heddle_trees", len(page.plan.trees)
    if page.progress:
        yield "heddle_batch", page.progress.batch
        yield "heddle_events", sum(batch.events for batch in page.batches)
        yield "heddle_results", sum(batch.results for batch in page.batches)
        yield "heddle_late_events", page.late.events
        yield "heddle_published_rows", page.progress.published
        for state in ("quarantined", "waiting"):
            yield f"heddle_{state}_batches", len([batch for batch in page.unpublished if batch.state == state])
        if page.progress.watermark:
            yield "heddle_watermark_seconds", page.progress.watermark.timestamp()
            yield "heddle_lag_seconds", (datetime.now(UTC) - page.progress.watermark).total_seconds()
    if page.audits:
        yield "heddle_audit_passed", float(page.audits[0].passed)
        yield "heddle_audit_timestamp_seconds", page.audits[0].at.timestamp()
    if page.measurements and page.measurements[0].milliseconds is not None:
        yield "heddle_cpu_milliseconds_per_thousand_events", page.measurements[0].milliseconds
