"""The streams a scheduled step works on."""

from __future__ import annotations

from jobs.engine.warehouse.consumed_files import list_consumed_files
from jobs.engine.warehouse.input_files import list_input_files
from jobs.engine.warehouse.ledger import newest_ledger
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.host.say import Say
from jobs.host.settings import Settings, settings
from jobs.spark.stream_frames import driver_of
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError


def select_streams(asked: str | None, say: Say) -> list[str]:
    """The stream that was asked for, or every stream that has queries; the catalog is checked on the way."""
    return _chosen(load_catalog(settings().catalog), asked, say)


def streams_with_work(asked: str | None, say: Say) -> list[str]:
    """Those of them on which files have arrived, or whose last batches wait to be audited."""
    place = settings()
    catalog = load_catalog(place.catalog)
    found = [name for name in _chosen(catalog, asked, say) if _waiting(place, catalog, name, say)]
    say(f"to evaluate: {', '.join(found) or 'nothing'}")
    return found


def _chosen(catalog: Catalog, asked: str | None, say: Say) -> list[str]:
    if asked:
        catalog.of_stream(asked)
    found = {name: len(catalog.of_stream(name)) for name in ([asked] if asked else catalog.streams)}
    if not any(found.values()):
        raise HeddleError(f"{settings().catalog}: has no queries over {asked or 'any stream'}; add one")
    say("catalog: " + ", ".join(f"{count} queries over {name}" for name, count in found.items()))
    return [name for name, count in found.items() if count]


def _waiting(place: Settings, catalog: Catalog, stream: str, say: Say) -> bool:
    storage = stream_storage(place.warehouse, stream)
    manifest = newest(storage)
    files = [path for path, _ in list_input_files(driver_of(catalog, stream).path)]
    taken = set(list_consumed_files(storage, manifest)) if manifest.batch >= 0 else set()
    fresh = sum(path not in taken for path in files)
    pending = len(newest_ledger(storage).pending(manifest.results))
    say(f"{stream}: {fresh} of {len(files)} files are new, {pending} result files wait for their audit")
    return fresh + pending > 0
