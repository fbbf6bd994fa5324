"""The figures of every stream in the text format that Prometheus scrapes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from jobs.host.settings import Settings
from optimizer.errors import HeddleError
from plugins.heddle_page.page import Page, read_page
from plugins.heddle_page.read.catalogs import catalog_of, streams_of

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
