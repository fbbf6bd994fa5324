"""The plans that a replan chooses from, priced in seconds where past runs tell what operations take."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from jobs.tracking.promotion import cost_of
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan, Traffic
from optimizer.plan.prices import Prices
from optimizer.planning.defaults import TECHNIQUE
from optimizer.planning.names import find_strategy
from optimizer.planning.recent import Recent
from optimizer.planning.stream import plan_stream

MEASURED = "measured"  # the technique that past runs show to be fastest; the block form before there are any


@dataclass(frozen=True)
class Candidates:
    """The best plan, and what every plan costs, by the names of its strategy and technique."""

    best: Plan
    costs: dict[str, float]
    unit: str
    seconds: float  # that planning took


def candidates(
    catalog: Catalog,
    stream: str,
    traffic: Traffic,
    strategies: Sequence[str],
    technique: str = MEASURED,
    prices: Prices | None = None,
    recent: Recent | None = None,
) -> Candidates:
    """Plan by every strategy, and by every technique that is asked for; recent events tell the keys better."""
    if not strategies:
        raise HeddleError("no strategy is chosen; name at least one")
    for strategy in strategies:
        find_strategy(strategy)
    started = time.perf_counter()
    found = dict(_plans(catalog, stream, traffic, strategies, _techniques(technique, prices), recent))
    units = {cost_of(plan, prices)[1] for plan in found.values()}
    known = prices if len(units) == 1 else None
    costs = {name: cost_of(plan, known)[0] for name, plan in found.items()}
    best = min(costs, key=lambda name: costs[name])
    return Candidates(found[best], costs, cost_of(found[best], known)[1], time.perf_counter() - started)


def _techniques(technique: str, prices: Prices | None) -> list[str]:
    """What to try. One that was asked for by name and does not fit is refused; those that are tried on are left out."""
    if technique != MEASURED:
        return [technique]
    return list(dict.fromkeys([TECHNIQUE, *(prices.techniques if prices else ())]))


def _plans(
    catalog: Catalog,
    stream: str,
    traffic: Traffic,
    strategies: Iterable[str],
    techniques: list[str],
    recent: Recent | None,
) -> Iterator[tuple[str, Plan]]:
    keys = 1.0 if recent else traffic.keys
    for strategy in strategies:
        for technique in techniques:
            try:
                plan = plan_stream(catalog, stream, traffic.rate, strategy, technique, keys, recent=recent)
            except HeddleError:
                if techniques[0] == technique:
                    raise
                continue  # its algebra does not fit all queries
            named = replace(plan, traffic=replace(plan.traffic, keys=traffic.keys))
            yield (strategy if len(techniques) == 1 else f"{strategy}.{technique}"), named
