"""What an audit decides: the batches that waited for it are published, or quarantined, by one atomic step."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jobs.engine.warehouse.ledger import Ledger, batches_of, discard, newest_ledger, release, settle
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import Manifest, load, manifest_name
from jobs.host.storage import Storage
from optimizer.errors import HeddleError


def publish(warehouse: str, stream: str, verdict: Mapping[str, Any]) -> dict[str, list[int]]:
    """Publish or quarantine what a verdict (Verdict.to_dict) is about; a second call changes nothing."""
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
        published, quarantined = publish_or_quarantine(storage, ledger, manifest, verdict["passed"])
    return {"published": published, "quarantined": quarantined}


def publish_batch(batch: Mapping[str, Any], say: Callable[[str], None], airflow: str = "") -> None:
    """Act on the verdict that an audit has left in a file; one that failed is an error, once its batch is put away.

    The audit's page is named as people reach it: below Airflow's address, where that is known.
    """
    verdict, stream = json.loads(Path(batch["verdict"]).read_text()), batch["stream"]
    batches = publish(batch["warehouse"], stream, verdict)
    page = f"{airflow}/heddle/audit/{stream}/{verdict['manifest']}" if airflow else verdict["page"]
    looked_at = f"{verdict['rows']:,} rows of {verdict['windows']:,} windows; the page is {page}"
    if not verdict["passed"]:
        failed = ", ".join(check["name"] for check in verdict["checks"] if not check["passed"])
        raise HeddleError(
            f"{stream}: the audit failed ({failed}) and {_are(batches['quarantined'])} quarantined; {looked_at}"
        )
    say(f"{stream}: {_are(batches['published'])} published after {looked_at}")


def settle_batch(warehouse: str, stream: str, batch: int, publish_it: bool) -> str:
    """Release or discard a quarantined batch; return a line that says what holds from now on."""
    storage = stream_storage(warehouse, stream)
    if publish_it:
        release(storage, batch)
        return f"batch {batch} is published"
    discard(storage, batch)
    return f"batch {batch} will not be published; it can still be released"


def publish_or_quarantine(
    storage: Storage, ledger: Ledger, manifest: Manifest, passed: bool
) -> tuple[list[int], list[int]]:
    """Act on the batches that wait; return those that are published now, and all that are quarantined."""
    waited = [file.name for file in ledger.pending(manifest.results)]
    if ledger.in_use:
        ledger = settle(storage, ledger, manifest, passed)
    return batches_of(manifest, waited) if passed else [], batches_of(manifest, ledger.quarantined)


def _are(batches: list[int]) -> str:
    """Return some batches with their verb: "batch 3 is", "batches 3, 4 are"."""
    if len(batches) > 1:
        return f"batches {', '.join(map(str, batches))} are"
    return f"batch {batches[0]} is" if batches else "no batch is"
