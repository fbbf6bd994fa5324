"""Whether a plan shall be the champion: only when it is cheaper than the present one on the same catalog.

    decision = decide(candidate, champion_plan, prices)    # Decision(better, cost, champion_cost, unit, reason)

Costs are compared in seconds where past runs tell what operations take, else in operations per second. The champion is
costed again at the candidate's rate and keys. A champion of another catalog cannot answer the queries of this one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from optimizer.plan.definition import Plan
from optimizer.plan.operations import operations_of
from optimizer.plan.prices import Prices

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
    again = replace(champion, traffic=plan.traffic)
    known = prices if prices and prices.knows(operations_of(again)) and prices.knows(operations_of(plan)) else None
    (cost, unit), (before, _) = cost_of(plan, known), cost_of(again, known)
    if cost < before * (1 - LEAST):
        return Decision(True, cost, before, unit, f"it costs {1 - cost / before:.1%} less than the champion")
    dearer = f"{cost / before - 1:.1%} more than" if cost > before * (1 + LEAST) else "as much as"
    return Decision(False, cost, before, unit, f"it costs {dearer} the champion")


def cost_of(plan: Plan, prices: Prices | None) -> tuple[float, str]:
    """Seconds of work per second of the stream, or operations per second; and which of the two."""
    operations = operations_of(plan)
    if prices and prices.knows(operations):
        return prices.seconds(operations, batches=0), "seconds per second"
    return operations.total, "operations per second"
