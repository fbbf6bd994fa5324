"""Replanning a stream: measure it, plan it by every strategy, compare with the champion, register and promote.

Plans are priced in seconds where past runs tell what operations take. All of it is logged. A run takes the champion;
where none fits the catalog, one is planned first.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jobs.host.say import Say
from jobs.host.settings import Settings
from jobs.measure.machine_prices import load_prices
from jobs.measure.stream import Measured, measure_stream
from jobs.spark.session import spark_session
from jobs.tracking.past import prices
from jobs.tracking.registry import (
    OPERATIONS,
    Decision,
    Version,
    champion,
    cost_of,
    decide,
    plan_of,
    promote,
    register,
)
from jobs.tracking.replans import KIND, Replan, conclude, log_replan
from jobs.tracking.store import Store, open_store
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.write import write_atomically
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan, Traffic
from optimizer.plan.explain import counted, saving_text
from optimizer.plan.prices import Prices
from optimizer.planning.choices import STRATEGY, TECHNIQUE, find_strategy
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
    in_operations: dict[str, float]  # the papers' currency, whatever the plans were searched in


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
    plans = dict(_plans(catalog, stream, traffic, strategies, _techniques(technique, prices), recent, prices))
    units = {cost_of(plan, prices)[1] for plan in plans.values()}
    common_prices = prices if len(units) == 1 else None
    costs = {name: cost_of(plan, common_prices)[0] for name, plan in plans.items()}
    best = min(costs, key=lambda name: costs[name])
    return Candidates(
        plans[best],
        costs,
        cost_of(plans[best], common_prices)[1],
        time.perf_counter() - started,
        {name: plan.cost for name, plan in plans.items()},
    )


def _techniques(technique: str, prices: Prices | None) -> list[str]:
    """Return the techniques to try: the named one; or the default one, and those whose prices past runs have told."""
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
    prices: Prices | None,
) -> Iterator[tuple[str, Plan]]:
    keys = 1.0 if recent else traffic.keys
    for strategy in strategies:
        for technique in techniques:
            try:
                plan = plan_stream(
                    catalog, stream, traffic.rate, strategy, technique, keys, recent=recent, prices=prices
                )
            except HeddleError:
                if techniques[0] == technique:
                    raise
                continue  # its algebra does not fit all queries
            named = replace(plan, traffic=replace(plan.traffic, keys=traffic.keys))
            yield (strategy if len(techniques) == 1 else f"{strategy}.{technique}"), named


MICROSECONDS = 1_000_000
MEASURING = "local[2]"  # the Spark that looks at recent events where only Spark can


@dataclass(frozen=True)
class Wish:
    """What a replan was asked for."""

    stream: str
    strategies: tuple[str, ...] = (STRATEGY,)
    technique: str = MEASURED
    rate: float | None = None  # measured when left out
    keys: float | None = None
    promote: bool = True
    key: str = ""  # a replan with the same key is done once


@dataclass(frozen=True)
class Replanned:
    """What a replan decided: the plan, whether it is promoted, and why."""

    stream: str
    run: str
    plan: str
    version: int | None
    promoted: bool
    reason: str
    summary: str
    replan_due: bool = False  # the plan has drifted: a replan should follow at once

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON takes it."""
        return dict(vars(self))


def replan(store: Store, catalog: Catalog, wish: Wish, say: Say) -> Replanned:
    """Plan a stream and put the plan in force if it is better, unless it is a dry run."""
    if not len(catalog.of_stream(wish.stream)):
        raise HeddleError(f"stream {wish.stream} has no queries to plan; add one to the catalog")
    measured = measure_stream(catalog, wish.stream, lambda: spark_session(MEASURING), wish.rate, wish.keys)
    traffic = Traffic(measured.rate, measured.keys, MICROSECONDS)
    fitted, technique = prices(store, wish.stream), wish.technique
    if (
        fitted is None
    ):  # before the first run: by what `heddle calibrate` has measured, which tells no technique's worth
        fitted, technique = load_prices(), TECHNIQUE if technique == MEASURED else technique
    order = _describe_order(measured)
    say(f"{wish.stream}: {traffic.rate:.4g} events per second, {traffic.keys:.4g} keys in a slice, {order}")
    recent = measured.recent if wish.keys is None else None  # keys that are given count in every slice
    plans = candidates(catalog, wish.stream, traffic, wish.strategies, technique, fitted, recent)
    for line in describe_costs(plans):
        say(f"{wish.stream}: {line}")
    now = champion(store, wish.stream)
    decision = decide(plans.best, plan_of(store, now) if now else None, fitted)
    figures = measured.figures
    logged = Replan(
        catalog,
        plans.best,
        plans.seconds,
        wish.technique,
        plans.costs,
        plans.unit,
        figures,
        wish.key,
        plans.in_operations,
        fitted,
    )
    return keep(store, plans.best, log_replan(store, logged), decision, wish.promote, say)


def describe_costs(plans: Candidates) -> Iterator[str]:
    """Say what the plans should cost, the cheapest first; those that cost the same share a line."""
    by_cost: dict[str, list[str]] = {}
    for name, cost in sorted(plans.costs.items(), key=lambda item: item[1]):
        in_seconds = f"{cost / plans.best.rate * 1e6:.4g} CPU ms per 1,000 events"
        in_operations = f"{plans.in_operations[name]:,.0f} {OPERATIONS}"
        by_cost.setdefault(in_operations if plans.unit == OPERATIONS else in_seconds, []).append(name)
    for text, names in by_cost.items():
        yield f"estimated for {', '.join(names)}: {text}"


def keep(store: Store, plan: Plan, run: str, decision: Decision, may_promote: bool, say: Say) -> Replanned:
    """Register a plan that was logged, promote it if it is better, and close its run."""
    version: Version | None = register(store, plan, run) if may_promote else None
    promoted = may_promote and decision.better
    if version and promoted:
        promote(store, version)
    conclude(store, run, plan, version, decision, promoted)
    queries = sum(len(tree.queries) for tree in plan.trees)
    trees = counted(len(plan.trees), "tree", "trees")
    summary = f"{counted(queries)} in {trees} by {plan.strategy}, {saving_text(plan.saving)}"
    number = version.number if version else None
    verdict = f"version {number} is promoted" if promoted else "dry run" if not may_promote else "not promoted"
    say(f"{plan.stream}: {summary}; {verdict}: {decision.reason}")
    return Replanned(plan.stream, run, plan.fingerprint(), number, promoted, decision.reason, summary)


def done_before(store: Store, wish: Wish) -> Replanned | None:
    """Return what an earlier attempt with the same key has finished; None where none has."""
    run = store.find(wish.stream, KIND, wish.key) if wish.key else None
    if run is None:
        return None
    data = store.client.get_run(run).data
    number, promoted = data.tags.get("version"), data.tags["promoted"] == "true"
    note = data.tags.get("mlflow.note.content", "")
    plan = data.params["plan_fingerprint"]
    due = bool(data.metrics.get("stream.replan_due", 0.0))
    return Replanned(wish.stream, run, plan, int(number) if number else None, promoted, data.tags["reason"], note, due)


def _describe_order(measured: Measured) -> str:
    if measured.disorder is None:
        return "order unknown"
    if not measured.disorder:
        return "in order"
    return (
        f"{measured.disorder:.2%} of its newest file's events come after a later one, by up to {measured.delay:.3g} s"
    )


@dataclass(frozen=True)
class ChampionFile:
    """The plan in force, as a file that a submitted job can read."""

    path: str
    version: int


def champion_file(place: Settings, catalog: Catalog, stream: str, say: Say) -> ChampionFile:
    """Write the plan in force below the platform's home; a stream whose champion does not fit is planned first."""
    version, plan = plan_in_force(open_store(place), catalog, stream, say)
    path = place.below("plans", stream, f"{version.plan}.json")
    write_atomically(path, plan.to_json().encode())
    return ChampionFile(str(path), version.number)


def plan_in_force(store: Store, catalog: Catalog, stream: str, say: Say) -> tuple[Version, Plan]:
    """Return the champion and its plan; a stream whose champion does not fit the catalog is planned first."""
    now = champion(store, stream)
    if now is None or now.catalog != catalog.fingerprint(stream):
        say(f"{stream}: no champion fits the catalog, so it is planned now")
        replan(store, catalog, Wish(stream), say)
        now = champion(store, stream)
    if now is None:
        raise HeddleError(f"stream {stream} has no champion; run heddle replan")
    return now, plan_of(store, now)
