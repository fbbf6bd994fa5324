"""What a run has to say beside its numbers, a line each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from jobs.engine.adopt import Adopted
from jobs.engine.manifest import BEGINNING, Manifest

NAMED = 20  # queries that have a line of their own
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def adopted_notes(before: Manifest, adopted: Adopted) -> list[str]:
    """A plan took over: what became of its trees, and from when on new queries are complete."""
    reread = f" from {adopted.events:,} raw events" if adopted.rebuilt else ""
    lines = [
        f"plan {adopted.manifest.plan} takes over from {before.plan}: "
        f"{adopted.carried} trees carry on, {adopted.rebuilt} are rebuilt{reread}"
    ]
    new = {query: after for query, after in adopted.joined.items() if after > BEGINNING}
    for query in sorted(new)[:NAMED]:
        why = "" if new[query] <= before.watermark else "; the raw events of those before it are gone"
        lines.append(f"query {query} is complete in the windows that end after {moment(new[query])}{why}")
    if len(new) > NAMED:
        lines.append(f"... and {len(new) - NAMED} new queries more")
    return lines


def moment(ticks: int) -> str:
    """A time as a person reads it."""
    try:
        return (EPOCH + timedelta(microseconds=ticks)).isoformat(" ", "auto").replace("+00:00", "Z")
    except OverflowError:
        return f"{ticks} µs"
