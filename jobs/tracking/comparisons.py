"""Comparisons: the same events under several strategies and techniques, one run each inside a parent run.

    parent, deviation = log_comparison(store, [Evaluation(...), ...], key=...)

MLflow's own comparison page over the children answers which plan is really faster, and so does the parent's name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from jobs.host.machine import machine_fingerprint
from jobs.tracking.artifacts import Bars, throughput_chart
from jobs.tracking.evaluations import Evaluation, engine_seconds, estimates, log_evaluation, past_of
from jobs.tracking.past import Past, deviations, mean, normalised, past_runs, prices_of, runs_to_price_by
from jobs.tracking.store import Entry, Store
from optimizer.errors import HeddleError

KIND, RUN = "comparison", "comparison_run"
PLAIN = "no_share"  # one tree per query: what others are compared with where it is among them


@dataclass(frozen=True)
class Trial:
    """A plan by the name of its strategy, its fingerprint, and the CPU seconds of its repeated runs."""

    name: str
    plan: str
    seconds: tuple[float, ...]

    @property
    def typical(self) -> float:
        """The median of its runs."""
        return median(self.seconds)


def trial_of(strategy: str, technique: str, fingerprint: str, report: Mapping[str, Any], several: bool) -> Trial:
    """Return a plan's trial; its name has the technique where several are compared."""
    seconds = tuple(report.get("repeated") or [engine_seconds(report)])
    return Trial(f"{strategy} with {technique}" if several else strategy, fingerprint, seconds)


def verdict(trials: Sequence[Trial]) -> str:
    """Say which plan is really faster, by how much, and which strategies found the same one.

    >>> plain, best = Trial("no_share", "a", (0.44, 0.45, 0.43)), Trial("cascade", "b", (0.2, 0.22, 0.21))
    >>> verdict([plain, best, Trial("weave_share", "b", (0.2, 0.22, 0.21))])
    'cascade is 2.10 times as fast as no_share (0.21 against 0.44 CPU s, spread 10%); weave_share found the same plan'
    """
    distinct: dict[str, Trial] = {}
    for trial in trials:
        distinct.setdefault(trial.plan, trial)
    ranked = sorted(distinct.values(), key=lambda trial: trial.typical)
    best, least = ranked[0], max(ranked[0].typical, 1e-9)
    base = next((trial for trial in ranked[1:] if trial.name.startswith(PLAIN)), ranked[-1])
    spread = max((max(trial.seconds) - min(trial.seconds)) / max(trial.typical, 1e-9) for trial in (best, base))
    apart = f", spread {spread:.0%}" if len(best.seconds) > 1 else ""
    if base is best:
        parts = [f"{best.name} takes {least:.3g} CPU s{apart}"]
    else:
        times = f"{base.typical / least:.2f} times as fast as {base.name}"
        parts = [f"{best.name} is {times} ({least:.3g} against {base.typical:.3g} CPU s{apart})"]
    others = [trial for trial in ranked[1:] if trial is not base]
    if others:
        parts.append("regret of " + ", ".join(f"{trial.name} {trial.typical / least:.2f}" for trial in others))
    parts += [
        f"{trial.name} found the same plan"
        + ("" if distinct[trial.plan] is best else f" as {distinct[trial.plan].name}")
        for trial in trials
        if distinct[trial.plan] is not trial
    ]
    return "; ".join(parts)


def trials_of(compared: Sequence[Evaluation]) -> list[Trial]:
    """Return the trials of some evaluations."""
    several = len({evaluation.technique for evaluation in compared}) > 1
    return [
        trial_of(each.plan.strategy, each.technique, each.plan.fingerprint(), each.report, several) for each in compared
    ]


def log_comparison(store: Store, compared: Sequence[Evaluation], key: str = "") -> tuple[str, float]:
    """Write the runs, and above them their verdict, chart and mean deviation."""
    if not compared:
        raise HeddleError("nothing was compared; name at least one strategy and one technique")
    stream = compared[0].plan.stream
    logged = store.find(stream, KIND, key) if key else None
    if logged:
        return logged, float(store.client.get_run(logged).data.metrics["deviation"])
    past = [past_run for evaluation in compared if (past_run := past_of("", evaluation))]
    apart, metrics, files = _figures(store, stream, past)
    trials = trials_of(compared)
    sentence = verdict(trials)
    params = {
        "strategies": ", ".join(sorted({evaluation.plan.strategy for evaluation in compared})),
        "techniques": ", ".join(sorted({run.technique for run in past})),
        "catalog_fingerprint": compared[0].plan.catalog_fingerprint,
    }
    name = sentence.split(" (", 1)[0].split(";", 1)[0]
    parent = store.begin(Entry(stream, KIND, name, params, metrics, key=key, note=sentence))
    least = max(min(trial.typical for trial in trials), 1e-9)
    for evaluation, trial in zip(compared, trials, strict=True):
        run = log_evaluation(store, replace(evaluation, kind=RUN, key=""), parent)
        store.measure(run, {"CPU_regret": trial.typical / least})
    store.files(parent, {**files, "verdict.txt": sentence + "\n"})
    store.end(parent)
    return parent, apart


def _figures(store: Store, stream: str, past: Sequence[Past]) -> tuple[float, dict[str, float], dict[str, bytes]]:
    """Return how far estimates are off by the prices that were known before, as metrics, too, and the chart."""
    machine = past[0].machine if past else machine_fingerprint()
    prices = prices_of(runs_to_price_by(store, stream, past_runs(store, stream), machine))
    estimated, measured = estimates(past, prices), [run.throughput for run in past]
    apart = mean(deviations(estimated, measured))
    by_operations = mean(deviations(estimates(past, None), measured))
    bars = [
        Bars(run.strategy, run.technique, *both)
        for run, both in zip(past, zip(normalised(estimated), normalised(measured), strict=True), strict=True)
    ]
    metrics = {"runs": len(past), "deviation": apart, "deviation_by_operations": by_operations}
    return apart, metrics, {"throughput.svg": throughput_chart(bars)} if bars else {}
