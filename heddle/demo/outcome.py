"""What the first run has done, from the reports and verdicts that its steps have left, and the screen that shows it.

The screen is printed, and kept as an image.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from heddle.demo.world import SMALL, STREAM

WIDTH = 17  # of the longest bar: the table fits into 80 columns
IMAGE = "first-run.svg"
COLOURS = {"measured": "#2a7f9e", "extrapolated": "#b7c9d3"}


@dataclass(frozen=True)
class Outcome:
    """Counts and CPU seconds of the large stream, beside what plain Spark took for a part of it."""

    queries: dict[str, int]  # by stream
    trees: dict[str, int]
    saving: float  # of the plan's cost, against one tree per query
    reports: list[dict[str, Any]]  # of the large stream's evaluations
    verdicts: list[dict[str, Any]]  # of all audits
    peer: dict[str, Any]  # heddle.demo.plain_spark.measure

    @property
    def events(self) -> int:
        """Events of the large stream."""
        return sum(report["events"] for report in self.reports)

    @property
    def batches(self) -> int:
        """Micro-batches of the large stream."""
        return sum(report["batches"] for report in self.reports)

    @property
    def events_per_second(self) -> float:
        """Events by the clock on the wall, from the second batch of a run on: Spark and its workers have started."""
        later = [report for report in self.reports if report["batches"] > 1]
        if not later:
            return self.events / sum(sum(report["batch_seconds"]) for report in self.reports)
        events = sum(report["events"] * (1 - 1 / report["batches"]) for report in later)
        return float(events / sum(sum(report["batch_seconds"][1:]) for report in later))

    @property
    def cpu_seconds(self) -> float:
        """What the evaluations took, everything but Spark's start counted."""
        return float(sum(report["cpu_seconds"] for report in self.reports))

    @property
    def task_seconds(self) -> float:
        """What the engine's own tasks took, which is what is estimated."""
        return float(sum(sum(report["step_seconds"].values()) for report in self.reports))

    @property
    def estimated_seconds(self) -> float | None:
        """What the engine's tasks should have taken by this machine's prices; None where it has none."""
        estimates = [report["estimated_seconds"] for report in self.reports]
        return None if None in estimates else float(sum(estimates))

    @property
    def extrapolated_seconds(self) -> float:
        """What plain Spark would take for all queries over all events: in proportion to what it took for a few."""
        share = len(self.peer["queries"]) * self.peer["events"]
        return float(self.peer["cpu_seconds"] * self.queries[STREAM] * self.events / share)

    @property
    def times(self) -> float:
        """How many times the CPU of Heddle plain Spark would take."""
        return self.extrapolated_seconds / self.cpu_seconds


def read_outcome(home: Path) -> Outcome:
    """Read what the steps of the first run have left."""
    from jobs.host.settings import settings
    from jobs.tracking.registry import champion
    from jobs.tracking.store import open_store
    from optimizer.catalog.read.load import load_catalog

    catalog, store = load_catalog(home / "catalog"), open_store(settings({"HEDDLE_HOME": str(home)}))
    versions = {stream: champion(store, stream) for stream in catalog.streams}
    champions = {stream: version for stream, version in versions.items() if version is not None}
    return Outcome(
        {stream: len(set(catalog.of_stream(stream).statements.to_pylist())) for stream in catalog.streams},
        {stream: version.trees for stream, version in champions.items()},
        champions[STREAM].saving,
        _load(home, f"{STREAM}.report"),
        _load(home, "*.verdict"),
        json.loads((home / "plain_spark.json").read_text()),
    )


def _load(home: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((home / "runs").glob(f"*/{name}.json"))]


def show(console: Console, outcome: Outcome, folder: Path) -> None:
    """Print the screen: what ran, its CPU seconds beside plain Spark's, how its answers compare, and what is next."""
    _show_run(console, outcome)
    _show_seconds(console, outcome)
    _show_answers(console, outcome)
    _show_next(console, folder)


def _show_run(console: Console, outcome: Outcome) -> None:
    small = f"{outcome.queries[SMALL]} over {SMALL} in {outcome.trees[SMALL]}"
    console.print(
        f"\n{outcome.queries[STREAM]} queries over {STREAM} in {outcome.trees[STREAM]} shared trees, and {small}.\n"
        f"{outcome.events:,} events in {outcome.batches} micro-batches, "
        f"{outcome.events_per_second:,.0f} events/s once Spark has started.",
        style="bold",
    )


def _show_seconds(console: Console, outcome: Outcome) -> None:
    console.print("\nCPU seconds")
    console.print(_bars(outcome))
    few, part = len(outcome.peer["queries"]), outcome.peer["events"] / outcome.events
    console.print(
        f"\nHeddle takes 1/{outcome.times:,.0f} of the CPU that plain Spark would, query by query: so says what "
        f"Spark took for {few} of them over {part:.0%} of the events."
    )
    estimate = outcome.estimated_seconds
    before = "" if estimate is None else f" ({estimate:.1f} estimated beforehand)"
    console.print(
        f"Of its {outcome.cpu_seconds:.1f} CPU seconds the engine's own tasks took {outcome.task_seconds:.1f}{before}; "
        "the rest is Spark's: its Java, and workers that start, in each run anew."
    )
    console.print(
        f"A tree computes once what its queries share: the plan costs {outcome.saving:.0%} less, by estimate, than one "
        "tree per query would."
    )


def _show_answers(console: Console, outcome: Outcome) -> None:
    rows, passed = sum(audit["rows"] for audit in outcome.verdicts), sum(audit["passed"] for audit in outcome.verdicts)
    console.print(
        f"{passed} of {len(outcome.verdicts)} audits passed: {rows:,} rows compared with plain Spark's, then published."
    )
    rows = len(outcome.peer["rows"])
    console.print(f"\n{rows} answers to one of the queries, by both:\n{outcome.peer['sql']}", style="dim")
    console.print(_rows(outcome))
    console.print(difference_text(outcome.peer["rows"]))


def _show_next(console: Console, folder: Path) -> None:
    steps = {
        "make ui": "Airflow, MLflow, Heddle's page; events go on",
        f"{folder}/{IMAGE}": "the bars as an image",
        f"{folder}/catalog/queries.yaml": "what was asked",
        f"{folder}/warehouse/{STREAM}/docs": "a page per audit",
    }
    width = max(map(len, steps))
    console.print("\nNext: " + "\n      ".join(f"{step:{width}}  {what}" for step, what in steps.items()))


def bars(outcome: Outcome) -> list[tuple[str, str, float]]:
    """Return what is compared: label, how its CPU seconds are known, the seconds."""
    queries, peer = outcome.queries[STREAM], outcome.peer
    workload, few = f"{queries} queries, {outcome.events / 1e6:g} M events", len(peer["queries"])
    return [
        (f"Heddle       {workload}", "measured", outcome.cpu_seconds),
        (f"plain Spark  {few} queries, {peer['events'] / 1e6:g} M events", "measured", peer["cpu_seconds"]),
        (f"plain Spark  {workload}", "extrapolated", outcome.extrapolated_seconds),
    ]


def _bars(outcome: Outcome) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(no_wrap=True)
    lines = bars(outcome)
    longest = max(seconds for _, _, seconds in lines)
    for label, how, seconds in lines:
        bar = "█" * max(1, round(WIDTH * seconds / longest))
        table.add_row(label, bar, f"{seconds:,.1f}", how)
    return table


def _rows(outcome: Outcome) -> Table:
    table = Table(box=SIMPLE_HEAD)
    rows = outcome.peer["rows"]
    for name in rows[0] if rows else ():
        table.add_column(name)
    for row in rows:
        table.add_row(*row.values())
    return table


def difference_text(rows: list[dict[str, str]]) -> str:
    """Say how far the answers that are shown are apart.

    >>> difference_text([{"Heddle": "2.0", "plain Spark": "2.0"}])
    'These rows are equal to the last digit.'
    >>> difference_text([{"Heddle": "1.0000000000000002", "plain Spark": "1.0"}])
    'These rows differ by at most 2e-16 of the value: doubles were added in another order.'
    """
    pairs = [(float(row["Heddle"]), float(row["plain Spark"])) for row in rows]
    apart = max((abs(ours - theirs) / abs(theirs) for ours, theirs in pairs if ours != theirs), default=0.0)
    if not apart:
        return "These rows are equal to the last digit."
    return f"These rows differ by at most {apart:.0e} of the value: doubles were added in another order."


def draw(outcome: Outcome, path: Path) -> None:
    """Draw the bars as an image."""
    from matplotlib.figure import Figure

    lines = bars(outcome)
    figure = Figure(figsize=(9, 2.6), layout="constrained")
    axes = figure.add_subplot()
    drawn = axes.barh(
        [f"{re.sub(' {2,}', ': ', label)}\n({how})" for label, how, _ in lines],
        [seconds for _, _, seconds in lines],
        color=[COLOURS[how] for _, how, _ in lines],
    )
    axes.bar_label(drawn, [f"{seconds:,.1f}" for _, _, seconds in lines], padding=4)
    axes.invert_yaxis()
    axes.set_xlabel("CPU seconds")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_title(f"Heddle takes 1/{outcome.times:,.0f} of the CPU that plain Spark would", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)
