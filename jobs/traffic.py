"""How fast a stream's events come, from the footers of its newest files."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from jobs.engine.source import opened
from jobs.engine.taken import arrived
from optimizer.catalog.query import Stream
from optimizer.errors import HeddleError

NEWEST = 8  # files
Span = tuple[int, datetime, datetime]  # rows, first time, last time


def estimated_rate(stream: Stream) -> float | None:
    """Events per second of event time in the newest files; None where footers cannot tell."""
    if not stream.in_parquet:
        return None
    spans = [span for path, _ in arrived(stream.path)[-NEWEST:] for span in _spans(path, stream.time)]
    if not spans:
        return None
    seconds = (max(last for _, _, last in spans) - min(first for _, first, _ in spans)).total_seconds()
    return sum(rows for rows, _, _ in spans) / seconds if seconds > 0 else None


def _spans(path: str, time: str) -> list[Span]:
    """The row groups of a file; none of a file that cannot be read, which the evaluation will complain about."""
    try:
        with opened(path) as file:
            groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
    except (HeddleError, OSError):
        return []
    return [span for group in groups if (span := _span(group, time))]


def _span(group: Any, time: str) -> Span | None:
    chunks = (group.column(number) for number in range(group.num_columns))
    statistics = next((chunk.statistics for chunk in chunks if chunk.path_in_schema == time), None)
    if not statistics or not statistics.has_min_max or not isinstance(statistics.min, datetime):
        return None
    first, last = (at if at.tzinfo else at.replace(tzinfo=UTC) for at in (statistics.min, statistics.max))
    return group.num_rows, first, last
