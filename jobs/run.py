"""A run over a stream's warehouse, on Spark or without: opened, advanced batch by batch, closed, swept, reported."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from jobs.cpu_meter import CpuMeter
from jobs.engine.batch import Executor, close, pass_over, run_batch
from jobs.engine.compile import compile_program
from jobs.engine.manifest import Manifest, newest
from jobs.engine.program import Program
from jobs.engine.storage import Storage
from jobs.engine.types import type_named
from jobs.engine.warehouse import Engine, claim, keep_plan, only_run, stream_storage, sweep
from jobs.report import RunReport
from optimizer.catalog.catalog import Catalog
from optimizer.errors import HeddleError
from optimizer.plan import Plan

SWEEP_EVERY = 16  # batches
Progress = Callable[[Manifest, float], None]


def silent(manifest: Manifest, seconds: float) -> None:
    """No progress."""


@dataclass
class Run:
    """What is evaluated, where it stands, and what has been done."""

    catalog: Catalog
    plan: Plan
    storage: Storage
    manifest: Manifest
    progress: Progress
    program: Program | None = None
    lane: str = ""
    report: RunReport = field(default_factory=RunReport)

    def evaluate(self, batch: int, program: Program, execute: Executor) -> None:
        """Evaluate a batch."""
        started = time.monotonic()
        self.program = program
        self._advance(run_batch(self.storage, self.manifest, program, batch, execute), started)

    def pass_over(self, batch: int) -> None:
        """A batch without files, because they vanished: nothing happens, but it is over."""
        self._advance(pass_over(self.storage, self.manifest, batch), time.monotonic())

    def finish(self, execute: Executor) -> None:
        """Emit the windows that the last batch's events let end, be it a batch of an earlier run that died."""
        started = time.monotonic()
        if self.program is None and self.manifest.types:
            types = {name: type_named(text) for name, text in self.manifest.types.items()}
            self.program = compile_program(self.catalog, self.plan, types)
        if self.program is not None:
            self._advance(close(self.storage, self.manifest, self.program, execute), started)

    def _advance(self, after: Manifest, started: float) -> None:
        if after.sequence == self.manifest.sequence:
            return
        self.manifest = after
        self.report.add(after.counts, time.monotonic() - started)
        self.progress(after, time.monotonic() - started)
        if after.sequence % SWEEP_EVERY == 0:
            sweep(self.storage, after)


@contextmanager
def open_run(
    catalog: Catalog, plan: Plan, warehouse: str, engine: Engine, buckets: int, progress: Progress
) -> Iterator[Run]:
    """Hold the stream's warehouse for one run."""
    check_plan(catalog, plan)
    storage = stream_storage(warehouse, plan.stream)
    with only_run(storage), CpuMeter(_oldest_process()) as meter:
        manifest = newest(storage)
        claim(storage, engine, manifest)
        if manifest.plan not in ("", plan.fingerprint()):
            raise HeddleError(
                f"{storage.root}: is evaluated by the plan {manifest.plan}, and this is {plan.fingerprint()}; "
                "choose another --warehouse"
            )
        keep_plan(storage, plan)
        sweep(storage, manifest)
        run = Run(catalog, plan, storage, replace(manifest, buckets=manifest.buckets or buckets), progress)
        yield run
        sweep(storage, run.manifest)
    run.report.finish(plan, run.lane, meter)


def _oldest_process() -> int:
    """Whose CPU seconds count: under spark-submit the JVM started Python, else the other way round."""
    return os.getppid() if "PYSPARK_GATEWAY_PORT" in os.environ else os.getpid()


def check_plan(catalog: Catalog, plan: Plan) -> None:
    """Refuse a plan that was made for other queries."""
    if plan.catalog_fingerprint != catalog.fingerprint(plan.stream):
        raise HeddleError(
            f"the plan of stream {plan.stream} was made for another catalog; make a new one with `heddle plan --out`"
        )
