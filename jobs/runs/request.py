"""What a run is to do: which stream, by which plan, on Spark or in this process, and how it takes its batches."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from jobs.engine.sources import land_events, list_input_files
from jobs.engine.warehouse.lifecycle import CHECKPOINT, TAKEN, plan_in_force, stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.host.say import Say
from jobs.measure.machine_prices import load_prices
from jobs.measure.stream import measure_stream
from jobs.runs.report import RunReport
from jobs.runs.run import Progress
from jobs.spark.stream_frames import driver_of
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Stream
from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.sql.durations import parse_duration
from optimizer.errors import HeddleError, Mistake
from optimizer.plan.definition import Plan
from optimizer.plan.explain import counted, saving_text
from optimizer.planning.choices import STRATEGY, TECHNIQUE

if TYPE_CHECKING:
    from jobs.spark.session import Start, StartFor


@dataclass(frozen=True)
class Options:
    """The user's choices; the defaults evaluate all that has arrived as one batch, then stop."""

    lane: str = "auto"
    files_per_batch: int = 0  # 0: all that has arrived is one batch
    interval: str = ""  # a processing-time trigger, for a run that never ends
    buckets: int = 0  # of a new warehouse; 0: as many as Spark has cores

    def of_stream(self, driver: Stream) -> Options:
        """Return the choices with what the stream's own options say where the user chose nothing."""
        return replace(self, files_per_batch=self.files_per_batch or int(driver.options.get("maxFilesPerTrigger", 0)))

    @property
    def at_once(self) -> bool:
        """Whether a batch takes all that has arrived, so that a run ends with it."""
        return not self.files_per_batch and not self.interval


USUAL = Options()
LANES = ("auto", "file", "frame")
FEW = 1_000_000  # events: a second or two in one process, less than Spark takes to start
FILES = 256  # whose rows are counted to tell whether events are few


@dataclass(frozen=True)
class Request:
    """Which stream to evaluate into which warehouse, and how."""

    catalog: str
    stream: str
    warehouse: str
    plan: str = ""
    options: Options = field(default_factory=Options)

    def load_catalog_and_plan(self, say: Say, start: Start | None = None) -> tuple[Catalog, Plan]:
        """Load the catalog and the plan: the user's, the one in force, or a new one by what recent events are like."""
        if self.options.lane not in LANES:
            raise HeddleError(f"there is no lane {self.options.lane!r}; use one of {', '.join(LANES)}")
        if self.options.files_per_batch < 0:
            raise HeddleError("--files-per-batch is at least 1; leave it out for one batch of all files")
        if not self.warehouse.strip():
            raise HeddleError("--warehouse is empty; name the folder where state and results are kept")
        if self.options.interval:
            _require_interval(self.options.interval)
        catalog = load_catalog(self.catalog)
        catalog.of_stream(self.stream)
        land_events(driver_of(catalog, self.stream))  # a first plan is by what has arrived
        return catalog, self._plan(catalog, say, start)

    def _plan(self, catalog: Catalog, say: Say, start: Start | None) -> Plan:
        if self.plan:
            return self._plan_of_file()
        storage = stream_storage(self.warehouse, self.stream)
        plan = plan_in_force(storage, newest(storage))
        if plan and plan.catalog_fingerprint == catalog.fingerprint(self.stream):
            return plan
        return _new_plan(catalog, self.stream, say, start)

    def _plan_of_file(self) -> Plan:
        try:
            plan = Plan.from_json(Path(self.plan).read_text(encoding="utf-8"))
        except OSError as error:
            raise HeddleError(f"{self.plan}: cannot be read ({error.strerror}); name a plan of heddle plan") from None
        except UnicodeDecodeError:
            raise HeddleError(f"{self.plan}: is not a plan; write one with heddle plan --out FILE") from None
        except HeddleError as error:
            raise HeddleError(f"{self.plan}: {error}") from None
        if plan.stream != self.stream:
            raise HeddleError(f"{self.plan}: is a plan of stream {plan.stream}, not of {self.stream}")
        return plan


def _require_interval(text: str) -> None:
    try:
        ticks = parse_duration(text)
    except Mistake as mistake:
        raise HeddleError(f"--interval: {mistake.wrong}; {mistake.right}") from None
    if ticks < 0:
        raise HeddleError(f"--interval: {text} goes back in time; give one as in '10 seconds'")


def _new_plan(catalog: Catalog, stream: str, say: Say, start: Start | None) -> Plan:
    from optimizer.planning.stream import plan_stream

    measured = measure_stream(catalog, stream, start)
    plan = plan_stream(
        catalog,
        stream,
        measured.rate,
        STRATEGY,
        TECHNIQUE,
        measured.planned_keys,
        recent=measured.recent,
        prices=load_prices(),
    )
    say(
        f"planned {stream} by {STRATEGY} at {plan.rate:.4g} events per second, {measured.how_known}: "
        f"{counted(len(plan.trees), 'tree', 'trees')}, {saving_text(plan.saving)}"
    )
    return plan


def evaluate_request(request: Request, start: StartFor | None, say: Say, progress: Progress) -> RunReport:
    """Evaluate on Spark, or in this process when there is none. A mistake is found before Spark is started."""
    if start is None and request.options.lane == "frame":
        raise HeddleError("--lane frame needs Spark; leave it out, or leave out --local")
    # events are measured by Spark only where it is Spark that reads them in the run, too
    catalog, plan = request.load_catalog_and_plan(say, partial(start, True) if start else None)
    if start is None:
        left_out = sorted({*catalog.unshared(request.stream), *plan.unshared})
        if left_out:
            say(f"left out, since only plain Spark can answer them: {', '.join(left_out)}")
        from jobs.runs.in_process import evaluate_local

        return evaluate_local(catalog, plan, request.warehouse, request.options, progress)
    from jobs.runs.lanes import spark_has_work
    from jobs.runs.on_spark import evaluate

    working = spark_has_work(catalog, request.stream, request.options.lane)
    followed = request.catalog if request.options.interval else ""
    return evaluate(start(working), catalog, plan, request.warehouse, request.options, progress, followed)


def reason_for_one_process(request: Request) -> str:
    """Return the line that says why a run takes no Spark; "" where it takes one.

    A warehouse stays with the engine that it was begun with.
    """
    from jobs.runs.lanes import spark_has_work

    if request.options.interval or request.options.lane == "frame":
        return ""
    storage = stream_storage(request.warehouse, request.stream)
    try:
        catalog = load_catalog(request.catalog)
        catalog.of_stream(request.stream)
        if any(storage.names(CHECKPOINT)) or spark_has_work(catalog, request.stream, request.options.lane):
            return ""
        if any(storage.names(TAKEN)) and not catalog.streams[request.stream].has_log:
            return "in this process, as this warehouse was begun; another --warehouse may be Spark's"
        land_events(catalog.streams[request.stream])
        paths = [file.path for file in list_input_files(catalog.streams[request.stream])]
        events = sum(pq.read_metadata(path).num_rows for path in paths) if len(paths) <= FILES else FEW + 1
    except (HeddleError, OSError, ValueError):  # the run itself says what is wrong
        return ""
    return f"{events:,} events are few: in this process, without Spark (--master names one)" if events <= FEW else ""
