"""What a run was made from, as MLflow's Dataset column has it: the catalog, and a slice of a stream's events."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from optimizer.catalog.model.catalog import Catalog


@dataclass(frozen=True)
class Dataset:
    """A name, a digest of the content, where it is, and what it is for."""

    name: str
    digest: str
    source: Mapping[str, str]
    profile: Mapping[str, Any]
    context: str


def catalog_dataset(catalog: Catalog, stream: str) -> Dataset:
    """Return the queries of a stream, told from others by their fingerprint."""
    profile = {"queries": len(catalog.of_stream(stream))}
    return Dataset(f"catalog of {stream}", catalog.fingerprint(stream)[:16], {"stream": stream}, profile, "planning")


def events_dataset(catalog: Catalog, stream: str, report: Mapping[str, Any]) -> Dataset:
    """Return the events that a run evaluated: which batches of the stream, and how many events."""
    own = catalog.streams[stream]
    source = {"stream": stream, "path": own.written, "batches": _batches(report)}
    profile = {name: report[name] for name in ("events", "batches", "late")}
    text = json.dumps([source, profile, report.get("started", 0.0)], sort_keys=True)
    return Dataset(stream, hashlib.sha256(text.encode()).hexdigest()[:16], source, profile, "evaluation")


def _batches(report: Mapping[str, Any]) -> str:
    """Name the batches of a run.

    >>> _batches({"numbers": [3, 4]}), _batches({"numbers": [2, 2]}), _batches({})
    ('3-4', '2', '')
    """
    first, last = report.get("numbers") or (None, None)
    return "" if first is None else str(first) if first == last else f"{first}-{last}"
