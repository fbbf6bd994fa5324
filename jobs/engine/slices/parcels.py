"""Tables as bytes: what Spark's shuffle carries from the feed to the finals."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from jobs.engine.events.arrow import COMPRESSED, read_tables, write_tables


def pack(tables: Mapping[str, pa.Table]) -> bytes:
    """Tables as bytes, not compressed: Spark's shuffle does that."""
    sink = pa.BufferOutputStream()
    write_tables(sink, tables, COMPRESSED)
    return bytes(sink.getvalue())


def unpack(content: bytes) -> dict[str, pa.Table]:
    """Tables from bytes."""
    return read_tables(pa.BufferReader(content))
