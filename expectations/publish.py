"""What an audit decides: the batches that waited for it are published, or quarantined, by one atomic step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobs.engine.ledger import Ledger, batches_of, newest_ledger, settle
from jobs.engine.manifest import Manifest, load, manifest_name
from jobs.engine.storage import Storage
from jobs.engine.warehouse import stream_storage
from optimizer.errors import HeddleError


def publish(warehouse: str, stream: str, verdict: Mapping[str, Any]) -> dict[str, list[int]]:
    """Act on a verdict (Verdict.to_dict). Done twice, it is done once."""
    storage = stream_storage(warehouse, stream)
    ledger = newest_ledger(storage)
    try:
        manifest = load(storage, manifest_name(verdict["manifest"]))
    except OSError:
        raise HeddleError(f"{storage.root}: what was audited is history by now; run heddle check again") from None
    if ledger.sequence != verdict["ledger"]:
        if ledger.pending(manifest.results):
            raise HeddleError(f"{storage.root}: another check has made an entry meanwhile; run heddle check again")
        published, quarantined = batches_of(manifest, ledger.published), batches_of(manifest, ledger.quarantined)
    else:
        published, quarantined = settled(storage, ledger, manifest, verdict["passed"])
    return {"published": published, "quarantined": quarantined}


def settled(storage: Storage, ledger: Ledger, manifest: Manifest, passed: bool) -> tuple[list[int], list[int]]:
    """The batches that are published by this, and all that are quarantined."""
    waited = [file.name for file in ledger.pending(manifest.results)]
    if ledger.in_use:
        ledger = settle(storage, ledger, manifest, passed)
    return batches_of(manifest, waited) if passed else [], batches_of(manifest, ledger.quarantined)
