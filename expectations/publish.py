"""What an audit decides: the batches that waited for it are published, or quarantined, by one atomic step."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jobs.engine.warehouse.ledger import Ledger, batches_of, discard, newest_ledger, release, settle
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import Manifest, emitted_span, load, manifest_name, newest
from jobs.host.settings import settings
from jobs.host.storage import Storage
from jobs.sinks.deliver import Secrets, deliver, environment
from optimizer.catalog.model.query import CRITICAL
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING

HOUR = 3_600_000_000  # microseconds
MOST_HOURS = 168  # of one publication: each of them starts a run of every DAG that waits for hours
ASKED = 10  # failing rows of each check that a person is shown with the question


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


def act_on_verdict(
    batch: Mapping[str, Any], say: Callable[[str], None], airflow: str = "", secrets: Secrets = environment
) -> dict[str, Any]:
    """Act on the verdict that an audit has left in a file: publish what waited, or put it away.

    The audit's page is named as people reach it: below Airflow's address, where that is known. What is published goes
    to the sinks of the stream. What is returned tells readers what they can read now, and the alerts that it raises,
    each of them once; or people what is to be decided.
    """
    verdict, stream = json.loads(Path(batch["verdict"]).read_text()), batch["stream"]
    batches = publish(batch["warehouse"], stream, verdict)
    page = f"{airflow}/heddle/audit/{stream}/{verdict['manifest']}" if airflow else verdict["page"]
    looked_at = f"{verdict['rows']:,} rows of {verdict['windows']:,} windows; the page is {page}"
    outcome = {"stream": stream, "passed": verdict["passed"], "page": page, "failure": ""}
    if not verdict["passed"]:
        failed = [check for check in _unmet(verdict) if check.get("severity", CRITICAL) == CRITICAL]
        names = ", ".join(check["name"] for check in failed)
        outcome["failure"] = (
            f"{stream}: the audit failed ({names}) and {_are(batches['quarantined'])} quarantined; {looked_at}"
        )
        rows = {check["name"]: (check.get("examples") or [])[:ASKED] for check in failed}
        return {**outcome, "batches": batches["quarantined"], "failing": rows}
    for check in _unmet(verdict):
        say(f"{stream}: warning: {check['name']} does not hold in {check['failing']:,} of {check['rows']:,} rows")
    say(f"{stream}: {_are(batches['published'])} published after {looked_at}")
    alerts = deliver(load_catalog(batch["catalog"]), stream, batch["warehouse"], say, secrets)
    outcome |= {"alerts": [alert.line for alert in alerts]}
    return {**outcome, **describe_published(batch["warehouse"], stream, verdict, batches["published"])}


def require_passed(outcome: Mapping[str, Any]) -> None:
    """Raise the failure of an audit, once its batch is put away."""
    if outcome["failure"]:
        raise HeddleError(outcome["failure"])


def make_question(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a person is asked about the batches of a failed audit: the rows that failed it, as Markdown."""
    tables = [f"**{name}**\n\n{_markdown(rows)}" for name, rows in outcome["failing"].items()]
    text = "\n\n".join([outcome["failure"], *tables, f"[The audit's page]({outcome['page']})"])
    subject = f"{outcome['stream']}: {_are(outcome['batches'])} quarantined. Release, discard or repair?"
    return {"stream": outcome["stream"], "batches": list(outcome["batches"]), "subject": subject, "body": text}


def _markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as a table in Markdown.

    >>> print(_markdown([{"key": "a|b", "ours": 1}]))
    | key | ours |
    |---|---|
    | a\\|b | 1 |
    """
    if not rows:
        return "(no rows to show)"
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    texts = ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines]
    return "\n".join([texts[0], "|" + "---|" * len(rows[0]), *texts[1:]])


def settle_question(question: Mapping[str, Any], answer: Mapping[str, Any], say: Callable[[str], None]) -> None:
    """Release or discard the batches of a question that are still quarantined; leave those that are to be repaired."""
    warehouse, stream = settings().warehouse, question["stream"]
    (choice,), user = answer["chosen_options"], (answer.get("responded_by_user") or {}).get("name") or "nobody known"
    storage = stream_storage(warehouse, stream)
    waiting = batches_of(newest(storage), newest_ledger(storage).quarantined)
    for batch in question["batches"]:
        if choice == "repair":
            say(f"{stream}: batch {batch} is to be repaired, says {user}")
        elif batch in waiting:
            say(f"{stream}: {settle_batch(warehouse, stream, batch, choice == 'release')}, says {user}")
        else:
            say(f"{stream}: batch {batch} was decided meanwhile")


def describe_published(
    warehouse: str, stream: str, verdict: Mapping[str, Any], batches: Sequence[int]
) -> dict[str, Any]:
    """Return what was published: its batches and rows, the watermark and its hour, and what was audited of it."""
    manifest = load(stream_storage(warehouse, stream), manifest_name(verdict["manifest"]))
    rows = sum(file.rows for file in manifest.results if file.batch in batches)
    has_watermark = manifest.watermark > BEGINNING
    watermark = datetime.fromtimestamp(manifest.watermark // 1_000_000, UTC) if has_watermark else None
    return {
        "batches": list(batches),
        "rows": rows,
        "watermark": watermark.isoformat() if watermark else None,
        "hour": f"{watermark:%Y-%m-%dT%H}" if watermark else None,  # windows that end before it are all there
        "hours": hours_between(*_span(manifest, batches)),
        "audited_rows": verdict["rows"],
        "warnings": [check["name"] for check in _unmet(verdict)],
    }


def _span(manifest: Manifest, batches: Sequence[int]) -> tuple[int, int]:
    """Return the time from the watermark before some batches to the one after them; BEGINNING where no mark tells."""
    spans = [span for batch in batches if (span := emitted_span(manifest.marks, batch))]
    return min((start for start, _ in spans), default=BEGINNING), max((end for _, end in spans), default=BEGINNING)


def hours_between(start: int, end: int) -> list[str]:
    """Return the hours that became whole between two watermarks, each by its beginning, the newest MOST_HOURS of them.

    A stream's first batch has no watermark before it: since when there are events is not known, and it tells none.

    >>> hours_between(HOUR // 2, 2 * HOUR), hours_between(2 * HOUR + 1, 3 * HOUR - 1)
    (['1970-01-01T00:00:00', '1970-01-01T01:00:00'], [])
    """
    after = end // HOUR
    hours = range(max(start // HOUR, after - MOST_HOURS), after) if start > BEGINNING else ()
    return [f"{datetime.fromtimestamp(hour * 3600, UTC):%Y-%m-%dT%H:%M:%S}" for hour in hours]


def _unmet(verdict: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [check for check in verdict["checks"] if not check["passed"]]


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
    """Publish or quarantine the batches that wait; return those published now, and all that are in quarantine."""
    waited = [file.name for file in ledger.pending(manifest.results)]
    if ledger.in_use:
        ledger = settle(storage, ledger, manifest, passed)
    return batches_of(manifest, waited) if passed else [], batches_of(manifest, ledger.quarantined)


def _are(batches: list[int]) -> str:
    """Return some batches with their verb: "batch 3 is", "batches 3, 4 are"."""
    if len(batches) > 1:
        return f"batches {', '.join(map(str, batches))} are"
    return f"batch {batches[0]} is" if batches else "no batch is"
