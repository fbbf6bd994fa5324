"""Scheduled jobs: which streams have work, what a submitted job is told, where its report goes, and how that is
logged.

The jobs are a micro-batch of a stream, a backfill of a past interval, and a comparison of strategies.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jobs.engine.sources import land_events, list_input_files
from jobs.engine.warehouse.consumed_files import list_consumed_files
from jobs.engine.warehouse.ledger import newest_ledger, require_audit
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.host.cache import cache_folder
from jobs.host.say import Say
from jobs.host.settings import BACKFILLS, Settings, settings
from jobs.host.spark_runtime import java_home
from jobs.plans.replan import champion_file
from jobs.runs.compare import Compared
from jobs.runs.lanes import spark_has_work
from jobs.spark.session import JAVA_OPTIONS, PLAIN_FILES, java_options, spark_home
from jobs.spark.stream_frames import driver_of
from jobs.tracking.comparisons import deviation_text, log_comparison, trial_of, verdict
from jobs.tracking.evaluations import Evaluation, log_evaluation
from jobs.tracking.past import run_rows
from jobs.tracking.store import Store, open_store
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan

STATEMENTS = "5"  # that the audit of a micro-batch looks at, those not audited for the longest: so it stays short


def select_streams(stream: str | None, say: Say) -> list[str]:
    """Return the stream that is named, or every stream that has queries; the catalog is checked on the way."""
    return _streams_with_queries(load_catalog(settings().catalog), stream, say)


def streams_with_work(stream: str | None, say: Say) -> list[str]:
    """Return the streams on which files have arrived, or whose last batches wait to be audited."""
    place = settings()
    catalog = load_catalog(place.catalog)
    streams = [name for name in _streams_with_queries(catalog, stream, say) if _has_work(place, catalog, name, say)]
    say(f"to evaluate: {', '.join(streams) or 'nothing'}")
    return streams


def _streams_with_queries(catalog: Catalog, stream: str | None, say: Say) -> list[str]:
    if stream:
        catalog.of_stream(stream)
    counts = {name: len(catalog.of_stream(name)) for name in ([stream] if stream else catalog.streams)}
    if not any(counts.values()):
        raise HeddleError(f"{settings().catalog}: has no queries over {stream or 'any stream'}; add one")
    say("catalog: " + ", ".join(f"{count} queries over {name}" for name, count in counts.items()))
    return [name for name, count in counts.items() if count]


def _has_work(place: Settings, catalog: Catalog, stream: str, say: Say) -> bool:
    storage = stream_storage(place.warehouse, stream)
    manifest = newest(storage)
    driver = driver_of(catalog, stream)
    land_events(driver)
    if driver.in_spark:
        say(f"{stream}: is a table of Spark's catalog; Spark knows whether it has grown")
        return True
    files = [file.path for file in list_input_files(driver)]
    consumed = set(list_consumed_files(storage, manifest)) if manifest.batch >= 0 else set()
    fresh = sum(path not in consumed for path in files)
    pending = len(newest_ledger(storage).pending(manifest.results))
    say(f"{stream}: {fresh} of {len(files)} files are new, {pending} result files wait for their audit")
    return fresh + pending > 0


def prepare(stream: str, run: str, files_per_batch: int, sample: int, say: Say) -> dict[str, Any]:
    """Fix the plan of a micro-batch, and what the job that evaluates and audits it is called with."""
    place = settings()
    catalog = load_catalog(place.catalog)
    plan = champion_file(place, catalog, stream, say)
    require_audit(stream_storage(place.warehouse, stream))
    report, verdict = run_file(place, run, stream, "report"), run_file(place, run, stream, "verdict")
    common = [place.catalog, "--stream", stream, "--warehouse", place.warehouse]
    batches = ["--files-per-batch", str(files_per_batch)] if files_per_batch else []
    audit = ["--sample", str(max(sample, 1)), "--statements", STATEMENTS, "--verdict", verdict]
    say(f"{stream}: evaluated by version {plan.version} of its plan")
    return {
        "stream": stream,
        "run": run,
        "catalog": place.catalog,
        "plan": plan.path,
        "version": plan.version,
        "warehouse": place.warehouse,
        "report": report,
        "verdict": verdict,
        "evaluate": [*common, "--plan", plan.path, "--report", report, *batches, *audit],
        **submission(catalog, stream, "evaluate"),
    }


def submission(catalog: Catalog, stream: str, job: str) -> dict[str, Any]:
    """Return how Spark is started for a job of a stream: its name, the Java of this machine, and little to say."""
    places = {"JAVA_HOME": java_home(cache_folder()), "SPARK_HOME": spark_home()}
    options = java_options(working=spark_has_work(catalog, stream))
    return {"name": f"heddle {job} {stream}", "env_vars": places, "conf": {JAVA_OPTIONS: options, **PLAIN_FILES}}


def run_file(place: Settings, run: str, stream: str, name: str) -> str:
    """Return the path of a file that a step of a run writes."""
    return str(place.below("runs", re.sub(r"[^\w.-]", "_", run), f"{stream}.{name}.json"))


def log_batch(batch: dict[str, Any], say: Say) -> dict[str, Any]:
    """Log a micro-batch that was evaluated and audited; logged once, however often it is tried."""
    place, stream = settings(), batch["stream"]
    report, audit = (json.loads(Path(batch[name]).read_text()) for name in ("report", "verdict"))
    plan = Plan.from_json(Path(batch["plan"]).read_text())
    key = f"{batch['run']}/{stream}"
    evaluation = Evaluation(load_catalog(place.catalog), plan, report, audit, batch["version"], key=key)
    store = open_store(place)
    run = log_evaluation(store, evaluation)
    logged = next(row for row in run_rows(store, stream, evaluation.kind) if row["run"] == run)
    say(f"{stream}: {report['events']:,} events, {report['results']:,} results; {seconds_text(report)}")
    for note in report.get("notes", ()):
        say(f"{stream}: {note}")
    say(f"{stream}: logged as MLflow run {run}")
    return {"stream": stream, "run": logged["run"], "experiment": logged["experiment"]}


def seconds_text(report: Mapping[str, Any]) -> str:
    """Say what a run took in its tasks, beside what was estimated.

    >>> seconds_text({"step_seconds": {"feed": 1.0, "finals": 0.5}, "estimated_seconds": 1.4})
    '1.50 CPU seconds in tasks, 1.40 estimated'
    """
    estimated = report.get("estimated_seconds")
    beside = "" if estimated is None else f", {estimated:.2f} estimated"
    return f"{sum(report['step_seconds'].values()):.2f} CPU seconds in tasks{beside}"


def backfill_arguments(params: Mapping[str, Any], run: str, say: Say) -> dict[str, Any]:
    """Return what a backfill or a repair is called with; an interval goes into a warehouse named after the run."""
    place, stream = settings(), params["stream"]
    low, high, repair = params["from"], params["to"], params["repair"]
    if repair == bool(high) or (repair and low):
        raise HeddleError("give to, and from unless all before it is meant; or repair alone")
    catalog = load_catalog(place.catalog)
    catalog.of_stream(stream)
    how = submission(catalog, stream, "backfill")
    arguments = [place.catalog, "--stream", stream, "--warehouse", place.warehouse]
    if repair:
        return {"backfill": [*arguments, "--repair"], **how}
    into = str(place.below(BACKFILLS, re.sub(r"[^\w.-]", "_", run)))
    plan = champion_file(place, catalog, stream, say).path
    say(f"{stream}: windows that end {f'after {low} ' if low else ''}up to {high} go into {into}")
    span = [f"--from={low}"] if low else []
    return {"backfill": [*arguments, "--plan", plan, *span, f"--to={high}", "--into", into], **how}


def comparison_arguments(params: Mapping[str, Any], run: str) -> dict[str, Any]:
    """Return what the job is called with, checked against the catalog."""
    place, stream = settings(), params["stream"]
    catalog = load_catalog(place.catalog)
    catalog.of_stream(stream)
    report = run_file(place, run, stream, "compared")
    arguments = [place.catalog, "--stream", stream, "--files", str(params["files"]), "--report", report]
    arguments += [f"--strategy={name}" for name in params["strategies"]]
    arguments += [f"--technique={name}" for name in params["techniques"]]
    arguments += [f"--{name}={params[name]}" for name in ("rate", "keys") if params[name]]
    how = submission(catalog, stream, "compare")
    return {"stream": stream, "run": run, "report": report, "compare": arguments, **how}


def log_report(job: Mapping[str, Any], say: Say) -> dict[str, Any]:
    """Log what the job compared."""
    place = settings()
    plans = [Compared(**plan) for plan in json.loads(Path(job["report"]).read_text())]
    run, deviation = log_compared(open_store(place), load_catalog(place.catalog), plans, job["run"])
    say(f"{job['stream']}: {verdict_of(plans)}")
    say(f"{job['stream']}: {len(plans)} plans compared; {deviation_text(deviation)}; MLflow run {run}")
    return {"stream": job["stream"], "run": run, "deviation": deviation}


def verdict_of(plans: Iterable[Compared]) -> str:
    """Say which of the plans is really faster."""
    compared = list(plans)
    several = len({plan.technique for plan in compared}) > 1
    parsed = [Plan.from_json(plan.plan) for plan in compared]
    return verdict(
        [
            trial_of(plan.strategy, each.technique, plan.fingerprint(), each.report, several)
            for each, plan in zip(compared, parsed, strict=True)
        ]
    )


def log_compared(store: Store, catalog: Catalog, plans: Iterable[Compared], key: str = "") -> tuple[str, float | None]:
    """Log a comparison; return its parent run and by what share estimates are off on average."""
    runs = [Evaluation(catalog, Plan.from_json(plan.plan), plan.report, technique=plan.technique) for plan in plans]
    return log_comparison(store, runs, key)
