"""Comparisons: the same events under several strategies and techniques, one run each inside a parent run.

    parent, deviation = log_comparison(store, [Evaluation(...), ...], key=...)

MLflow's own comparison page over the children answers which plan is really faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jobs.tracking.charts import Bars, throughput_chart
from jobs.tracking.evaluations import Evaluation, estimates, log_evaluation, past_of
from jobs.tracking.past import Past, deviations, mean, metrics_of, normalised, prices_of
from jobs.tracking.store import Entry, Store
from optimizer.errors import HeddleError

KIND, RUN = "comparison", "comparison_run"


def log_comparison(store: Store, compared: Sequence[Evaluation], key: str = "") -> tuple[str, float]:
    """Write the runs, and above them their chart and mean deviation."""
    if not compared:
        raise HeddleError("nothing was compared; name at least one strategy and one technique")
    stream = compared[0].plan.stream
    done = store.find(stream, KIND, key) if key else None
    if done:
        return done, float(store.client.get_run(done).data.metrics["deviation"])
    past = [past_run for evaluation in compared if (past_run := past_of("", evaluation))]
    apart, metrics, files = _figures(past)
    params = {
        "strategies": ", ".join(sorted({evaluation.plan.strategy for evaluation in compared})),
        "techniques": ", ".join(sorted({run.technique for run in past})),
        "catalog_fingerprint": compared[0].plan.catalog_fingerprint,
    }
    parent = store.begin(Entry(stream, KIND, f"comparison of {len(compared)} plans", params, metrics, key=key))
    for evaluation in compared:
        log_evaluation(store, replace(evaluation, kind=RUN, key=""), parent)
    store.files(parent, files)
    store.end(parent)
    return parent, apart


def _figures(past: Sequence[Past]) -> tuple[float, dict[str, float], dict[str, bytes]]:
    prices = prices_of(past)
    estimated, measured = estimates(past, prices), [run.throughput for run in past]
    apart = mean(deviations(estimated, measured))
    by_operations = mean(deviations(estimates(past, None), measured))
    bars = [
        Bars(run.strategy, run.technique, *both)
        for run, both in zip(past, zip(normalised(estimated), normalised(measured), strict=True), strict=True)
    ]
    metrics = {"runs": len(past), "deviation": apart, "deviation_by_operations": by_operations}
    metrics |= metrics_of(prices) if prices else {}
    return apart, metrics, {"throughput.svg": throughput_chart(bars)} if bars else {}
