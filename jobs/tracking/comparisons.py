"""Comparisons: the same events under several strategies and techniques, one run each inside a parent run.

    parent, deviation = log_comparison(store, [Evaluation(...), ...], key=...)

MLflow's own comparison page over the children answers which plan is really faster, and so does the parent's name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Any
from urllib.parse import quote

from jobs.tracking.artifacts import Bars, comparison_chart
from jobs.tracking.evaluations import Evaluation, engine_seconds, log_evaluation, milliseconds
from jobs.tracking.store import Entry, Store, catalog_dataset, events_dataset
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


def log_comparison(store: Store, compared: Sequence[Evaluation], key: str = "") -> tuple[str, float | None]:
    """Write the runs, and above them their verdict, chart and the mean deviation of estimates, where there are any."""
    if not compared:
        raise HeddleError("nothing was compared; name at least one strategy and one technique")
    stream = compared[0].plan.stream
    logged = store.find(stream, KIND, key) if key else None
    if logged:
        return logged, store.client.get_run(logged).data.metrics.get("deviation")
    trials = trials_of(compared)
    bars = bars_of(compared, trials)
    apart = deviation(bars)
    sentence = verdict(trials)
    params = {
        "strategies": ", ".join(sorted({evaluation.plan.strategy for evaluation in compared})),
        "techniques": ", ".join(sorted({evaluation.technique for evaluation in compared})),
        "catalog_fingerprint": compared[0].plan.catalog_fingerprint,
    }
    metrics = {"runs": len(compared), **({} if apart is None else {"deviation": apart})}
    name = sentence.split(" (", 1)[0].split(";", 1)[0]
    parent = store.begin(Entry(stream, KIND, name, params, metrics, key=key, note=sentence))
    least = max(min(trial.typical for trial in trials), 1e-9)
    store.inputs(
        parent,
        [
            events_dataset(compared[0].catalog, stream, compared[0].report),
            catalog_dataset(compared[0].catalog, stream),
        ],
    )
    children = [
        log_evaluation(store, replace(evaluation, kind=RUN, key="", regret=trial.typical / least), parent)
        for evaluation, trial in zip(compared, trials, strict=True)
    ]
    store.note(parent, f"{sentence}\n\n[Compare the runs]({comparison_address(store.experiment(stream), children)})")
    files: dict[str, str | bytes] = {"verdict.txt": sentence + "\n"}
    store.files(parent, files | ({"CPU_ms.svg": comparison_chart(bars)} if bars else {}))
    store.end(parent)
    return parent, apart


def comparison_address(experiment: str, runs: Sequence[str]) -> str:
    """Return the address of MLflow's page that compares runs, on the same server.

    >>> comparison_address("2", ["a", "b"])
    '#/compare-runs?runs=%5B%22a%22%2C%22b%22%5D&experiments=%5B%222%22%5D&workflowType=machine_learning'
    """
    named, among = (quote(json.dumps(ids, separators=(",", ":")), "") for ids in (list(runs), [experiment]))
    return f"#/compare-runs?runs={named}&experiments={among}&workflowType=machine_learning"


def bars_of(compared: Sequence[Evaluation], trials: Sequence[Trial]) -> list[Bars]:
    """Return what every plan that brought events costs, once where several strategies found the same one."""
    distinct: dict[str, tuple[str, dict[str, float]]] = {}
    for each, trial in zip(compared, trials, strict=True):
        distinct.setdefault(trial.plan, (trial.name, milliseconds(each.report)))
    costs = [(name, cost) for name, cost in distinct.values() if cost]
    return [Bars(name, cost.get("CPU_ms_estimated"), cost["CPU_ms_measured"]) for name, cost in costs]


def deviation(plans: Sequence[Bars]) -> float | None:
    """Return by what share estimates are off on average; None where nothing was estimated.

    >>> deviation([Bars("no_share", 0.5, 0.4), Bars("cascade", 0.15, 0.2), Bars("panes", None, 0.3)])
    0.25
    """
    pairs = [(plan.estimated, plan.measured) for plan in plans if plan.estimated is not None and plan.measured]
    return round(fmean(abs(estimated / measured - 1) for estimated, measured in pairs), 6) if pairs else None


def deviation_text(apart: float | None) -> str:
    """Say how far estimates are off.

    >>> deviation_text(0.074)
    'estimates are 7.4% off on average'
    """
    if apart is None:
        return "nothing was estimated: heddle calibrate measures what this machine takes"
    return f"estimates are {apart:.1%} off on average"
