"""The plans of a stream as versions of a registered model; the one in force has the alias `champion`.

version = register(store, plan, run)          # a new version; nothing is in force by that
champion(store, "sensors")                    # the Version in force, or None
plan_of(store, version)                       # its Plan
promote(store, version)                       # move the alias
roll_back(store, "sensors")                   # move it back to the champion before, or to a given version
history(store, "sensors")                     # every Version, the newest first, with when it was promoted
decide(plan, champion_plan, prices)           # Decision(better, cost, champion_cost, unit, reason)

A plan takes the champion's place only when it is cheaper on the same catalog. Costs are compared in seconds where past
runs tell what operations take, else in operations per second; the champion is costed again at the new plan's rate and
keys. A champion of another catalog cannot answer the queries of this one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from jobs.tracking.store import Store
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan
from optimizer.plan.prices import Prices, operations_of

if TYPE_CHECKING:
    from mlflow.entities.model_registry import ModelVersion


ALIAS = "champion"
PLAN = "plan/plan.json"
PROMOTED, ROLLED_BACK = "promoted", "rolled_back"  # tags: when, as ISO times parted by commas
KEPT = 40  # of those times
NOT_THERE = ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE")  # a model, an alias of a model


@dataclass(frozen=True)
class Version:
    """A registered plan; its figures are tags, so that a history needs no artifact."""

    stream: str
    number: int
    run: str  # the MLflow run that made it
    plan: str  # fingerprint
    catalog: str  # fingerprint
    strategy: str
    technique: str
    cost: float
    no_share_cost: float
    trees: int
    queries: int
    registered: datetime
    promoted: tuple[str, ...] = ()
    rolled_back: tuple[str, ...] = ()
    champion: bool = False

    @property
    def saving(self) -> float:
        """The share of the no-share cost that it saves."""
        return 1 - self.cost / self.no_share_cost if self.no_share_cost else 0.0


def model_name(stream: str) -> str:
    """Return the registered model of a stream."""
    return f"heddle-{stream}"


def register(store: Store, plan: Plan, run: str) -> Version:
    """Register a plan as a version; the run holds its plan.json. One that was registered before keeps its version."""
    name, fingerprint = model_name(plan.stream), plan.fingerprint()
    _make_model(store, plan.stream)
    for version in history(store, plan.stream):
        if version.plan == fingerprint:
            return version
    source = f"{store.client.get_run(run).info.artifact_uri}/plan"
    model_version = store.client.create_model_version(name, source, run, tags=_tags(plan), await_creation_for=0)
    return _version(plan.stream, model_version, None)


def champion(store: Store, stream: str) -> Version | None:
    """Return the version in force; None where there is none."""
    from mlflow.exceptions import MlflowException

    try:
        model_version = store.client.get_model_version_by_alias(model_name(stream), ALIAS)
    except MlflowException as error:
        if error.error_code not in NOT_THERE:  # a server in trouble: to plan anew would leave the champion's state
            raise
        return None
    return _version(stream, model_version, int(model_version.version))


def history(store: Store, stream: str) -> list[Version]:
    """Return every version of a stream, the newest first."""
    now = champion(store, stream)
    model_versions = store.client.search_model_versions(f"name='{model_name(stream)}'", max_results=1000)
    versions = [_version(stream, model_version, now.number if now else None) for model_version in model_versions]
    return sorted(versions, key=lambda version: -version.number)


def plan_of(store: Store, version: Version) -> Plan:
    """Read the plan of a version."""
    return Plan.from_json(store.read(version.run, PLAN).decode())


def promote(store: Store, version: Version) -> None:
    """Put a version in force; a version that is in force stays so."""
    now = champion(store, version.stream)
    if now is None or now.number != version.number:
        _note(store, version, PROMOTED, version.promoted)
        store.client.set_registered_model_alias(model_name(version.stream), ALIAS, str(version.number))


def roll_back(store: Store, stream: str, number: int | None = None) -> Version:
    """Put the champion before the present one back in force, or the version of a number."""
    versions = {version.number: version for version in history(store, stream)}
    order = champions(list(versions.values()))
    if number is not None and number not in versions:
        numbers = ", ".join(map(str, sorted(versions))) or "none"
        raise HeddleError(f"stream {stream} has no version {number} of its plan; it has {numbers}")
    if number is None and len(order) < 2:
        raise HeddleError(f"stream {stream} has had no champion before the present one; promote another plan")
    if number is not None:
        target = versions[number]
        promote(store, target)
        return target
    target = versions[order[-2]]
    replaced = versions[order[-1]]
    _note(store, replaced, ROLLED_BACK, replaced.rolled_back)
    store.client.set_registered_model_alias(model_name(stream), ALIAS, str(target.number))
    return target


def champions(versions: list[Version]) -> list[int]:
    """Return the versions that were in force one after another, without those rolled back; the last is in force."""
    events = [(at, True, v.number) for v in versions for at in v.promoted]
    events += [(at, False, v.number) for v in versions for at in v.rolled_back]
    order: list[int] = []
    for _, came, number in sorted(events):
        if came:
            order.append(number)
        elif order and order[-1] == number:
            order.pop()
    return order


def _note(store: Store, version: Version, tag: str, times: tuple[str, ...]) -> None:
    value = ",".join((*times, datetime.now(UTC).isoformat())[-KEPT:])
    store.client.set_model_version_tag(model_name(version.stream), str(version.number), tag, value)


def _make_model(store: Store, stream: str) -> None:
    from mlflow.exceptions import MlflowException

    try:
        store.client.create_registered_model(
            model_name(stream), description=f"Plans of the stream {stream}; the alias {ALIAS} is the one in force."
        )
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise


def _tags(plan: Plan) -> dict[str, str]:
    techniques = sorted({demand.technique for tree in plan.trees for demand in tree.demands if demand.technique})
    return {
        "plan": plan.fingerprint(),
        "catalog": plan.catalog_fingerprint,
        "strategy": plan.strategy,
        "technique": ", ".join(techniques),
        "cost": repr(plan.cost),
        "no_share_cost": repr(plan.costs.no_share),
        "trees": str(len(plan.trees)),
        "queries": str(sum(len(tree.queries) for tree in plan.trees)),
    }


def _version(stream: str, model_version: ModelVersion, champion: int | None) -> Version:
    tags: dict[str, Any] = model_version.tags
    return Version(
        stream,
        int(model_version.version),
        model_version.run_id or "",
        tags["plan"],
        tags["catalog"],
        tags["strategy"],
        tags["technique"],
        float(tags["cost"]),
        float(tags["no_share_cost"]),
        int(tags["trees"]),
        int(tags["queries"]),
        datetime.fromtimestamp(model_version.creation_timestamp / 1000, UTC),
        _times(tags.get(PROMOTED)),
        _times(tags.get(ROLLED_BACK)),
        int(model_version.version) == champion,
    )


def _times(tag: str | None) -> tuple[str, ...]:
    return tuple(tag.split(",")) if tag else ()


SECONDS, OPERATIONS = "seconds per second", "operations per second"
LEAST = 1e-9  # of the cost: what is less than this cheaper is not cheaper


@dataclass(frozen=True)
class Decision:
    """What was decided, and in numbers why."""

    better: bool
    cost: float
    champion_cost: float | None
    unit: str
    reason: str


def decide(plan: Plan, champion: Plan | None, prices: Prices | None = None) -> Decision:
    """Compare a plan with the champion."""
    if champion is None or champion.catalog_fingerprint != plan.catalog_fingerprint:
        cost, unit = cost_of(plan, prices)
        reason = "the champion was made for another catalog" if champion else "it is the stream's first plan"
        return Decision(True, cost, None, unit, reason)
    champion_now = replace(champion, traffic=plan.traffic)
    both = (operations_of(champion_now), operations_of(plan))
    common_prices = prices if prices and all(map(prices.knows, both)) else None
    (cost, unit), (before, _) = cost_of(plan, common_prices), cost_of(champion_now, common_prices)
    if cost < before * (1 - LEAST):
        return Decision(True, cost, before, unit, f"it costs {1 - cost / before:.1%} less than the champion")
    dearer = f"{cost / before - 1:.1%} more than" if cost > before * (1 + LEAST) else "as much as"
    return Decision(False, cost, before, unit, f"it costs {dearer} the champion")


def cost_of(plan: Plan, prices: Prices | None) -> tuple[float, str]:
    """Return seconds of work per second of the stream, or operations per second; and which of the two."""
    operations = operations_of(plan)
    if prices and prices.knows(operations):
        return prices.seconds(operations, batches=0), SECONDS
    return operations.total, OPERATIONS
