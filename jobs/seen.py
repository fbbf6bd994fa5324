"""What a plan is made for: the rate and the keys that were given, else those that the stream's newest files show."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.measuring import Measurement, measure
from jobs.recent import RecentEvents
from jobs.recent_on_spark import Start, recent_by
from jobs.request import ASSUMED_RATE
from optimizer.catalog.catalog import Catalog
from optimizer.errors import HeddleError


@dataclass(frozen=True)
class Seen:
    """Events per second and how that is known; keys active in a slice, 1 where recent events tell them better."""

    rate: float
    known: str
    keys: float
    recent: RecentEvents | None


def seen(catalog: Catalog, stream: str, start: Start | None, rate: float | None, keys: float | None) -> Seen:
    """Look at a stream, by Spark where only Spark can and there is one."""
    recent, shown = recent_by(start, catalog, stream), _shown(catalog, stream)
    measured = shown.rate or (recent.rate if recent else None)
    if keys is None:
        keys = 1.0 if recent else max(shown.keys or 1.0, 1.0)
    if rate is not None:
        return Seen(rate, "as given", keys, recent)
    known = "as its newest files have" if measured else "assumed, since its files do not tell"
    return Seen(measured or ASSUMED_RATE, known, keys, recent)


def _shown(catalog: Catalog, stream: str) -> Measurement:
    try:
        return measure(catalog, stream)
    except HeddleError:  # no files yet: a plan can be made all the same
        return Measurement()
