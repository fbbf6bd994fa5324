"""Replanning a stream: measure it, plan it, compare with the champion, register and promote; all of it logged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jobs.host.say import Say
from jobs.measure.stream import Measured, measure_stream
from jobs.plans.candidates import MEASURED, candidates
from jobs.spark.session import spark_session
from jobs.tracking.calibrations import prices
from jobs.tracking.promotion import Decision, decide
from jobs.tracking.registry import Version, champion, plan_of, promote, register
from jobs.tracking.replans import KIND, Replan, conclude, log_replan
from jobs.tracking.store import Store
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan, Traffic
from optimizer.planning.defaults import STRATEGY

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
    """What came of it."""

    stream: str
    run: str
    plan: str
    version: int | None
    promoted: bool
    reason: str
    summary: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return dict(vars(self))


def replan(store: Store, catalog: Catalog, wish: Wish, say: Say) -> Replanned:
    """Plan a stream and put the plan in force if it is better, unless it is a dry run."""
    if not len(catalog.of_stream(wish.stream)):
        raise HeddleError(f"stream {wish.stream} has no queries to plan; add one to the catalog")
    measured = measure_stream(catalog, wish.stream, lambda: spark_session(MEASURING), wish.rate, wish.keys)
    traffic = Traffic(measured.rate, measured.keys, MICROSECONDS)
    fitted = prices(store, wish.stream)
    order = _describe_order(measured)
    say(f"{wish.stream}: {traffic.rate:.4g} events per second, {traffic.keys:.4g} keys in a slice, {order}")
    recent = measured.recent if wish.keys is None else None  # keys that are given count in every slice
    plans = candidates(catalog, wish.stream, traffic, wish.strategies, wish.technique, fitted, recent)
    for name, cost in sorted(plans.costs.items(), key=lambda item: item[1]):
        say(f"{wish.stream}: {name} costs {cost:.6g} {plans.unit}")
    now = champion(store, wish.stream)
    decision = decide(plans.best, plan_of(store, now) if now else None, fitted)
    figures = measured.figures
    logged = Replan(catalog, plans.best, plans.seconds, wish.technique, plans.costs, plans.unit, figures, wish.key)
    return keep(store, plans.best, log_replan(store, logged), decision, wish.promote, say)


def keep(store: Store, plan: Plan, run: str, decision: Decision, may_promote: bool, say: Say) -> Replanned:
    """Register a plan that was logged, promote it if it is better, and close its run."""
    version: Version | None = register(store, plan, run) if may_promote else None
    promoted = may_promote and decision.better
    if version and promoted:
        promote(store, version)
    conclude(store, run, version, decision, promoted)
    queries = sum(len(tree.queries) for tree in plan.trees)
    summary = f"{queries} queries in {len(plan.trees)} trees by {plan.strategy}, {plan.saving:z.1%} below no_share"
    number = version.number if version else None
    verdict = f"version {number} is promoted" if promoted else "dry run" if not may_promote else "not promoted"
    say(f"{plan.stream}: {summary}; {verdict}: {decision.reason}")
    return Replanned(plan.stream, run, plan.fingerprint(), number, promoted, decision.reason, summary)


def done_before(store: Store, wish: Wish) -> Replanned | None:
    """What an earlier attempt with the same key has finished."""
    run = store.find(wish.stream, KIND, wish.key) if wish.key else None
    if run is None:
        return None
    data = store.client.get_run(run).data
    number, promoted = data.tags.get("version"), data.tags["promoted"] == "true"
    note = data.tags.get("mlflow.note.content", "")
    plan = data.params["plan_fingerprint"]
    return Replanned(wish.stream, run, plan, int(number) if number else None, promoted, data.tags["reason"], note)


def _describe_order(measured: Measured) -> str:
    if measured.disorder is None:
        return "order unknown"
    return f"{measured.disorder:.2%} out of order by up to {measured.delay:.3g} s"
