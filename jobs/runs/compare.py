"""The same events under several strategies and techniques.

Every plan is evaluated from scratch, some times over, into warehouses of its own that are thrown away; the first one of
every technique once before, so that none pays for what a technique compiles and loads. Equal plans are measured once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from jobs.engine.sources import list_input_files
from jobs.host.say import Say
from jobs.measure.machine_prices import prices_for
from jobs.measure.stream import measure_stream
from jobs.runs.report import RunReport
from jobs.runs.request import Options
from jobs.spark.session import Start
from jobs.spark.stream_frames import driver_of
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan
from optimizer.planning.stream import plan_stream

REPEATED = 3  # runs of a plan
Evaluate = Callable[[Catalog, Plan, str], RunReport]


@dataclass(frozen=True)
class Comparison:
    """What is compared, on how many of the stream's oldest files (all when 0)."""

    stream: str
    strategies: tuple[str, ...]
    techniques: tuple[str, ...]
    rate: float | None = None
    keys: float | None = None
    files: int = 0
    cost: str = "seconds"  # the currency that plans are searched in


@dataclass(frozen=True)
class Compared:
    """One plan and what its evaluation reported."""

    technique: str
    plan: str  # as JSON
    report: dict[str, Any]


def compare(catalog: Catalog, comparison: Comparison, start: Start | None, say: Say) -> list[Compared]:
    """Evaluate every pair of strategy and technique on Spark, or in this process when there is none."""
    plans = list(plans_of(catalog, comparison, start))
    evaluate: Evaluate = partial(_on_spark, start) if start else _in_process
    outcomes: list[Compared] = []
    with tempfile.TemporaryDirectory(prefix="heddle-compare-") as folder:
        first_files = _first_files(catalog, comparison, Path(folder, "events"))
        for technique, plan in first_of_each(plans).items():
            evaluate(first_files, plan, str(Path(folder, f"warm-{technique}")))
        outcome_of: dict[str, tuple[str, dict[str, Any]]] = {}
        for number, (technique, plan) in enumerate(plans):
            name = f"{plan.strategy} with {technique}"
            if plan.fingerprint() in outcome_of:
                say(f"{name}: the same plan as {outcome_of[plan.fingerprint()][0]}")
            else:
                places = [str(Path(folder, f"{number}-{turn}")) for turn in range(REPEATED)]
                outcome_of[plan.fingerprint()] = name, _median([evaluate(first_files, plan, place) for place in places])
                report = outcome_of[plan.fingerprint()][1]
                say(f"{name}: {report['events']:,} events, {report['repeated'][0]:.3g} CPU seconds in tasks at best")
            outcomes.append(Compared(technique, plan.to_json(), outcome_of[plan.fingerprint()][1]))
    return outcomes


def _median(reports: Sequence[RunReport]) -> dict[str, Any]:
    """Return the report of the median run, with the seconds in tasks of all of them, the fewest first."""
    ordered = sorted(reports, key=_task_seconds)
    return {**ordered[len(ordered) // 2].to_dict(), "repeated": [_task_seconds(report) for report in ordered]}


def _task_seconds(report: RunReport) -> float:
    return sum(report.step_seconds.values())


def first_of_each(plans: Sequence[tuple[str, Plan]]) -> dict[str, Plan]:
    """Return the first plan of every technique, the one that would pay for what its kernels load."""
    firsts: dict[str, Plan] = {}
    for technique, plan in plans:
        firsts.setdefault(technique, plan)
    return firsts


def _on_spark(start: Start, catalog: Catalog, plan: Plan, warehouse: str) -> RunReport:
    from jobs.runs.on_spark import evaluate

    return evaluate(start(), catalog, plan, warehouse)


def _in_process(catalog: Catalog, plan: Plan, warehouse: str) -> RunReport:
    """Evaluate a plan in this process, where the CPU seconds are the engine's alone."""
    from jobs.runs.in_process import evaluate_local

    return evaluate_local(catalog, plan, warehouse, Options())


def plans_of(catalog: Catalog, comparison: Comparison, start: Start | None) -> Iterator[tuple[str, Plan]]:
    """Yield every technique that is compared with a plan by every strategy."""
    if not comparison.strategies or not comparison.techniques:
        raise HeddleError("nothing to compare; name at least one strategy and one technique")
    catalog.of_stream(comparison.stream)
    measured = measure_stream(catalog, comparison.stream, start, comparison.rate, comparison.keys)
    rate, keys, recent = measured.rate, measured.planned_keys, measured.recent
    prices = prices_for(comparison.cost)
    for strategy in comparison.strategies:
        for technique in comparison.techniques:
            plan = plan_stream(
                catalog, comparison.stream, rate, strategy, technique, keys, recent=recent, prices=prices
            )
            yield technique, plan


def _first_files(catalog: Catalog, comparison: Comparison, folder: Path) -> Catalog:
    """Return the catalog, with the stream cut down to its oldest files."""
    if not comparison.files:
        return catalog
    source = driver_of(catalog, comparison.stream)
    if "://" in source.path:
        raise HeddleError(f"stream {source.name} is not on this machine; compare on all of its files")
    for file in list_input_files(source)[: comparison.files]:
        link = folder / Path(file.path).relative_to(source.path)  # its folders may name columns
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(file.path)
    return replace(catalog, streams={**catalog.streams, source.name: replace(source, path=str(folder))})
