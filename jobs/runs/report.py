"""What a run has to say beside its numbers, a line each."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from jobs.engine.batch.adopt import Adopted
from jobs.engine.warehouse.manifest import Manifest
from jobs.engine.work import tally
from jobs.host.machine import CpuMeter, machine_facts
from jobs.measure.machine_prices import load_prices
from optimizer.plan.definition import Plan
from optimizer.plan.prices import counts_by_tree, operations_for, schedule_for
from optimizer.windows.window import BEGINNING

NAMED = 20  # queries that have a line of their own
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def adopted_notes(before: Manifest, adopted: Adopted) -> list[str]:
    """Say, after a plan took over, what became of its trees and from when on new queries are complete."""
    reread = f" from {adopted.events:,} raw events" if adopted.rebuilt else ""
    lines = [
        f"plan {adopted.manifest.plan} takes over from {before.plan}: "
        f"{'1 tree carries' if adopted.carried == 1 else f'{adopted.carried} trees carry'} on, "
        f"{adopted.rebuilt} {'is' if adopted.rebuilt == 1 else 'are'} rebuilt{reread}"
    ]
    new = {query: after for query, after in adopted.joined.items() if after > BEGINNING}
    for query in sorted(new)[:NAMED]:
        why = "" if new[query] <= before.watermark else "; the raw events of those before it are gone"
        lines.append(f"query {query} is complete in the windows that end after {format_time(new[query])}{why}")
    if len(new) > NAMED:
        lines.append(f"... and {len(new) - NAMED} new queries more")
    return lines


def print_batch(manifest: Manifest, seconds: float) -> str:
    """Say what a batch brought, in a line of progress; or what came when the last batch of a run was closed."""
    counts = manifest.counts
    if not counts["events"]:
        return f"batch {manifest.batch}, closed: {counts['results']:,} results more, {seconds:.1f} s"
    if not (manifest.batch or counts["results"]):
        return f"batch 0: {counts['events']:,} events, no window is over yet, {seconds:.1f} s"
    return f"batch {manifest.batch}: {counts['events']:,} events, {counts['results']:,} results, {seconds:.1f} s"


def format_time(ticks: int) -> str:
    """Return a time as a person reads it."""
    try:
        return (EPOCH + timedelta(microseconds=ticks)).isoformat(" ", "auto").replace("+00:00", "Z")
    except OverflowError:
        return f"{ticks} µs"


def estimate_seconds(plan: Plan, events: int, batches: int, buckets: int = 1) -> float | None:
    """Return the CPU seconds that a plan should take for this many events; None on a machine without prices."""
    prices = load_prices()
    operations = operations_for(plan, events, max(batches, 1), buckets) if prices and events else None
    if prices is None or operations is None or not prices.knows(operations):
        return None
    return round(prices.seconds(operations, max(batches, 1)), 3)


def estimate_counts(plan: Plan, events: int, batches: int, buckets: int = 1) -> dict[str, dict[str, int]]:
    """Return what a plan should do for so many events, by tree and by the names of optimizer/plan/counters.py."""
    schedule = schedule_for(plan, events, batches, buckets)
    seconds = events / plan.rate
    by_tree = counts_by_tree(plan.trees, plan.traffic, schedule)
    return {tree: {name: round(each * seconds) for name, each in counts.items()} for tree, counts in by_tree.items()}


COUNTED = ("events", "results", "late", "windows_missed", "without_time")
LISTED = 1000  # batches whose seconds are kept one by one


@dataclass
class RunFacts:
    """What ran: which plan of which stream, by which lanes, which batches, when, and on what machine."""

    stream: str = ""
    plan: str = ""
    lane: str = ""
    queries: dict[str, dict[str, str]] = field(default_factory=dict)  # by id: its lane, and why if not the file lane
    numbers: list[int] = field(default_factory=list)  # the first and the last batch
    started: float = field(default_factory=time.time)  # seconds since 1970
    ended: float = 0.0
    master: str = "local"  # Spark's, or none: the engine alone
    machine: dict[str, str] = field(default_factory=dict)  # what makes the machine fast or slow


@dataclass
class RunCounts:
    """What a run did: events that came, answers that were written, and what the trees did for them."""

    batches: int = 0
    events: int = 0
    results: int = 0
    late: int = 0
    windows_missed: int = 0
    revisions: int = 0  # answers to emitted windows, made anew since late events came
    without_time: int = 0
    unshared: dict[str, int] = field(default_factory=dict)  # results of the queries that plain Spark answers
    trees: dict[str, dict[str, Any]] = field(default_factory=dict)
    counted: dict[str, dict[str, int]] = field(default_factory=dict)  # what was done, by tree; "": for all of them


@dataclass
class RunCost:
    """What a run took, and what its plan had let expect."""

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    step_seconds: dict[str, float] = field(default_factory=dict)
    batch_seconds: list[float] = field(default_factory=list)
    estimated_cost: float = 0.0
    estimated_seconds: float | None = None  # CPU seconds of the engine, by the machine's prices where they are known
    estimated: dict[str, dict[str, int]] = field(default_factory=dict)  # what `counted` has, by the plan


@dataclass
class RunReport(RunCost, RunCounts, RunFacts):
    """All that is known of a run once it is over. Its JSON is flat: an entry for every field of the three parts."""

    notes: list[str] = field(default_factory=list)  # what a reader should know beside the numbers

    def add(self, counts: dict[str, Any], seconds: float, batch: int = 0) -> None:
        """Add a batch (or a closing, which brings no events)."""
        self.batches += counts["events"] > 0
        if counts["events"]:
            self.numbers = [*self.numbers[:1], batch][:2] if self.numbers else [batch, batch]
        for name in COUNTED:
            setattr(self, name, getattr(self, name) + counts[name])
        self.revisions += counts.get("revisions", 0)  # a batch without late events has none
        for name in ("partials", "operations"):
            for tree, count in counts[name].items():
                figures = self.trees.setdefault(tree, {"partials": 0, "operations": 0})
                figures[name] += count
        for tree, tree_counts in counts.get("done", {}).items():  # a manifest of an older version has none
            tally(self.counted, tree, tree_counts)
        for query, count in counts["unshared"].items():
            self.unshared[query] = self.unshared.get(query, 0) + count
        for step, cpu_seconds in counts["seconds"].items():
            self.step_seconds[step] = self.step_seconds.get(step, 0.0) + cpu_seconds
        self.batch_seconds = [*self.batch_seconds, round(seconds, 3)][-LISTED:]

    def note(self, line: str) -> None:
        """Say something beside the numbers, once."""
        if line not in self.notes:
            self.notes.append(line)

    def finish(self, plan: Plan, lane: str, meter: CpuMeter, buckets: int = 1) -> None:
        """Close the books. A plan's cost is operations per second at its rate: the events tell how many seconds."""
        self.stream, self.plan, self.lane = plan.stream, plan.fingerprint(), lane
        self.ended = time.time()
        self.machine = {**machine_facts(), "master": self.master}
        self.estimated_cost = plan.cost
        self.estimated_seconds = estimate_seconds(plan, self.events, self.batches, buckets)
        if self.events and self.batches:
            self.estimated = estimate_counts(plan, self.events, self.batches, buckets)
        self.unshared = {query: self.unshared.get(query, 0) for query in (*plan.unshared, *self.unshared)}
        self.wall_seconds, self.cpu_seconds = round(meter.wall_seconds, 3), round(meter.cpu_seconds, 3)
        self.step_seconds = {step: round(seconds, 6) for step, seconds in self.step_seconds.items()}
        for tree in plan.trees:
            figures = self.trees.setdefault(tree.id, {"partials": 0, "operations": 0})
            figures |= {
                "estimated_operations": round(tree.cost * self.events / plan.rate),
                "estimated_cost": tree.cost,
                "queries": len(tree.queries),
                "technique": tree.technique,
            }

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON takes it."""
        return asdict(self)
