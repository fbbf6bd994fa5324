"""The beginning of time, before every event."""

from __future__ import annotations

BEGINNING = -(1 << 62)  # before every event: the watermark of a stream that has not started
