"""The streams a scheduled step works on."""

from __future__ import annotations

from jobs.engine.sources import land_events, list_input_files
from jobs.engine.warehouse.consumed_files import list_consumed_files
from jobs.engine.warehouse.ledger import newest_ledger
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.host.say import Say
from jobs.host.settings import Settings, settings
from jobs.spark.stream_frames import driver_of
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError


def select_streams(stream: str | None, say: Say) -> list[str]:
    """Return the stream that is named, or every stream that has queries; the catalog is checked on the way."""
    return _streams_with_queries(load_catalog(settings().catalog), stream, say)


def streams_with_work(stream: str | None, say: Say) -> list[str]:
    """Return the streams on which files have arrived, or whose last batches wait to be audited."""
    place = settings()
    catalog = load_catalog(place.catalog)
    streams = [name for name in _streams_with_queries(catalog, stream, say) if _has_work(place, catalog, name, say)]
    say(f"to evaluate: {', '.join(streams) or 'nothing'}")
    return streams


def _streams_with_queries(catalog: Catalog, stream: str | None, say: Say) -> list[str]:
    if stream:
        catalog.of_stream(stream)
    counts = {name: len(catalog.of_stream(name)) for name in ([stream] if stream else catalog.streams)}
    if not any(counts.values()):
        raise HeddleError(f"{settings().catalog}: has no queries over {stream or 'any stream'}; add one")
    say("catalog: " + ", ".join(f"{count} queries over {name}" for name, count in counts.items()))
    return [name for name, count in counts.items() if count]


def _has_work(place: Settings, catalog: Catalog, stream: str, say: Say) -> bool:
    storage = stream_storage(place.warehouse, stream)
    manifest = newest(storage)
    driver = driver_of(catalog, stream)
    land_events(driver)
    if driver.in_spark:
        say(f"{stream}: is a table of Spark's catalog; Spark knows whether it has grown")
        return True
    files = [file.path for file in list_input_files(driver)]
    consumed = set(list_consumed_files(storage, manifest)) if manifest.batch >= 0 else set()
    fresh = sum(path not in consumed for path in files)
    pending = len(newest_ledger(storage).pending(manifest.results))
    say(f"{stream}: {fresh} of {len(files)} files are new, {pending} result files wait for their audit")
    return fresh + pending > 0
