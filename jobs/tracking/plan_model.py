"""A plan as a model that MLflow loads: it predicts what the plan costs at a rate.

champion = mlflow.pyfunc.load_model("models:/heddle-sensors@champion")
champion.predict(pandas.DataFrame({"rate": [1000.0, 5000.0]}))    # operations and CPU seconds per second
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from optimizer.plan.batches import STEADY
from optimizer.plan.definition import Plan
from optimizer.plan.prices import Prices, operations_of

DESCRIPTION, PRICES = "plan/MLmodel", "plan/prices.json"
RATE = "rate"


@dataclass(frozen=True)
class PlanModel:
    """A plan, and the prices of the machine that it was made for, where they were known."""

    plan: Plan
    prices: Prices | None

    def predict(self, data: pd.DataFrame, params: Mapping[str, Any] | None = None) -> pd.DataFrame:
        """Return a row per rate: operations per second, CPU seconds per second, CPU milliseconds per 1,000 events."""
        return pd.DataFrame([self._predict_at(float(rate)) for rate in pd.DataFrame(data)[RATE]])

    def _predict_at(self, rate: float) -> dict[str, float | None]:
        operations = operations_of(at_rate(self.plan, rate))
        is_priced = self.prices is not None and self.prices.knows(operations)
        seconds = self.prices.seconds(operations, 1 / STEADY.batch) if self.prices and is_priced else None
        return {
            RATE: rate,
            "operations_per_second": operations.total,
            "cpu_seconds_per_second": seconds,
            "cpu_ms_per_1000_events": None if seconds is None else seconds / rate * 1e6,
        }


def at_rate(plan: Plan, rate: float) -> Plan:
    """Return a plan over the same stream when so many events come in a second.

    What was measured goes with them: a span of time sees the keys that one of as many events saw, and the events of
    shards grow. Shards do not, unless an event has none to itself: slices, keys and signatures bound them.
    """
    times, traffic = rate / plan.rate, plan.traffic
    curves = tuple((keys, tuple((span / times, active) for span, active in curve)) for keys, curve in traffic.curves)
    trees = tuple(
        replace(
            tree,
            shards=replace(
                tree.shards,
                events=tree.shards.events * times,
                shards=min(tree.shards.shards, tree.shards.events * times),
            ),
        )
        if tree.shards
        else tree
        for tree in plan.trees
    )
    return replace(plan, trees=trees, traffic=replace(traffic, rate=rate, curves=curves))


def describe_model(prices: Prices | None) -> dict[str, str]:
    """Return the files that make a folder with a plan a model: what loads it, and the prices."""
    loader = {"loader_module": __name__, "python_version": platform.python_version()}
    document = {"artifact_path": "plan", "flavors": {"python_function": loader}}
    files = {DESCRIPTION: json.dumps(document, indent=1) + "\n"}  # JSON is YAML
    return files | ({PRICES: json.dumps(dict(prices.each), indent=1) + "\n"} if prices else {})


def _load_pyfunc(path: str) -> PlanModel:
    """Load a model as MLflow asks for it: from its folder."""
    folder = Path(path)
    file = folder / Path(PRICES).name
    prices = Prices(json.loads(file.read_text())) if file.exists() else None
    return PlanModel(Plan.from_json((folder / "plan.json").read_text()), prices)
