"""The tracking store: one experiment per stream, and runs that are written in few transactions.

    store = open_store(settings())
    run = store.begin(Entry("sensors", "replan", "weave_share", params={...}, metrics={...}))
    store.files(run, {"plan/plan.json": text})
    store.end(run)
    store.find("sensors", "replan", key="scheduled__2026-01-01")    # the run of an earlier attempt, or None

A run's kind is its tag `heddle.kind`: replan, evaluation, comparison, or tree for children. `heddle.key` makes
logging idempotent: a task that is tried again finds the run it has finished before. What a run was made from, the
catalog and a slice of a stream's events, is in MLflow's Dataset column.
"""

from __future__ import annotations

import getpass
import hashlib
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs.host.machine import fingerprint_of, machine_facts
from jobs.host.settings import Settings
from jobs.tracking.client import WatchedClient, address_of
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import UnreachableError

if TYPE_CHECKING:
    from mlflow.entities import Run


@dataclass(frozen=True)
class Dataset:
    """A name, a digest of the content, where it is, and what it is for."""

    name: str
    digest: str
    source: Mapping[str, str]
    profile: Mapping[str, Any]
    context: str


def catalog_dataset(catalog: Catalog, stream: str) -> Dataset:
    """Return the queries of a stream, told from others by their fingerprint."""
    profile = {"queries": len(catalog.of_stream(stream))}
    return Dataset(f"catalog of {stream}", catalog.fingerprint(stream)[:16], {"stream": stream}, profile, "planning")


def events_dataset(catalog: Catalog, stream: str, report: Mapping[str, Any]) -> Dataset:
    """Return the events that a run evaluated: which batches of the stream, and how many events."""
    own = catalog.streams[stream]
    source = {"stream": stream, "path": own.written, "batches": _batches(report)}
    profile = {name: report[name] for name in ("events", "batches", "late")}
    text = json.dumps([source, profile, report.get("started", 0.0)], sort_keys=True)
    return Dataset(stream, hashlib.sha256(text.encode()).hexdigest()[:16], source, profile, "evaluation")


def _batches(report: Mapping[str, Any]) -> str:
    """Name the batches of a run.

    >>> _batches({"numbers": [3, 4]}), _batches({"numbers": [2, 2]}), _batches({})
    ('3-4', '2', '')
    """
    first, last = report.get("numbers") or (None, None)
    return "" if first is None else str(first) if first == last else f"{first}-{last}"


# before mlflow is imported: it reports to nobody, and draws no bars into task logs
os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "WARNING")
KIND, KEY, STREAM = "heddle.kind", "heddle.key", "heddle.stream"
MACHINE = "heddle.machine"  # the fingerprint; its facts are below it
PARENT = "mlflow.parentRunId"
NOTE = "mlflow.note.content"
MOST_STREAMS = 100
ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 10.0  # seconds that a job waits for a server
LONGEST = 500  # characters of a parameter that MLflow takes


@dataclass(frozen=True)
class Entry:
    """What a run says of itself."""

    stream: str
    kind: str
    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, str] = field(default_factory=dict)  # the facts of the one that ran; {}: this one
    key: str = ""
    note: str = ""  # shown by MLflow above the run, as Markdown
    started: float = 0.0  # seconds since 1970; 0: now


@dataclass(frozen=True)
class Store:
    """MLflow, for the streams of one platform."""

    client: WatchedClient
    artifacts: str  # "" where a server keeps them

    def experiment(self, stream: str) -> str:
        """Return the stream's experiment; make it where it is missing."""
        name = f"heddle/{stream}"
        experiment = self.client.get_experiment_by_name(name)
        if experiment is not None:
            return str(experiment.experiment_id)
        place = f"{self.artifacts}/{stream}" if self.artifacts else None
        return str(self.client.create_experiment(name, place, tags={STREAM: stream}))

    def begin(self, entry: Entry, parent: str = "") -> str:
        """Start a run and write all that is known of it, in two transactions."""
        from mlflow.entities import Metric, Param

        if entry.key:
            self._give_up(entry)
        machine = machine_tags(entry.machine or machine_facts())
        tags = {KIND: entry.kind, STREAM: entry.stream, **source_tags(), **machine, **entry.tags}
        tags |= {PARENT: parent} if parent else {}
        tags |= {KEY: entry.key} if entry.key else {}
        tags |= {NOTE: entry.note} if entry.note else {}
        start = int(entry.started * 1000) or None
        run = self.client.create_run(self.experiment(entry.stream), start, tags=tags, run_name=entry.name)
        now = int(time.time() * 1000)
        self.client.log_batch(
            run.info.run_id,
            metrics=[Metric(name, float(value), now, 0) for name, value in entry.metrics.items()],
            params=[Param(name, str(value)[:LONGEST]) for name, value in entry.params.items()],
        )
        return str(run.info.run_id)

    def _give_up(self, entry: Entry) -> None:
        """End the runs of earlier attempts that died."""
        for run in self.runs(
            entry.stream, entry.kind, f"tags.`{KEY}` = '{_escape_quotes(entry.key)}' and status = 'RUNNING'"
        ):
            self.end(run.info.run_id, failed=True)

    def inputs(self, run: str, datasets: Sequence[Dataset]) -> None:
        """Say what a run was made from."""
        from mlflow.entities import Dataset as MlflowDataset
        from mlflow.entities import DatasetInput, InputTag

        entities = [
            DatasetInput(
                MlflowDataset(
                    each.name, each.digest, "heddle", json.dumps(each.source), profile=json.dumps(each.profile)
                ),
                [InputTag("mlflow.data.context", each.context)],
            )
            for each in datasets
        ]
        self.client.log_inputs(run, entities)

    def series(self, run: str, name: str, values: Sequence[float]) -> None:
        """Add a metric that has a value per step, from 0 on."""
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        self.client.log_batch(run, metrics=[Metric(name, float(value), now, at) for at, value in enumerate(values)])

    def measure(self, run: str, metrics: Mapping[str, float]) -> None:
        """Add metrics to a run."""
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        self.client.log_batch(run, metrics=[Metric(name, float(value), now, 0) for name, value in metrics.items()])

    def files(self, run: str, contents: Mapping[str, str | bytes]) -> None:
        """Write artifacts, by their paths."""
        with tempfile.TemporaryDirectory() as folder:
            for name, content in contents.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.encode() if isinstance(content, str) else content)
            self.client.log_artifacts(run, folder)

    def note(self, run: str, text: str) -> None:
        """Write what MLflow shows above a run, as Markdown."""
        self.client.set_tag(run, NOTE, text)

    def end(self, run: str, failed: bool = False, at: float = 0.0) -> None:
        """Say that a run is over, now or since a time in seconds since 1970."""
        self.client.set_terminated(run, "FAILED" if failed else "FINISHED", int(at * 1000) or None)

    def child(self, entry: Entry, parent: str) -> str:
        """Write a run inside another, over at once."""
        run = self.begin(entry, parent)
        self.end(run)
        return run

    def find(self, stream: str, kind: str, key: str) -> str | None:
        """Return the finished run of a key; None where there is none."""
        runs = self.runs(stream, kind, f"tags.`{KEY}` = '{_escape_quotes(key)}' and status = 'FINISHED'", most=1)
        return str(runs[0].info.run_id) if runs else None

    def runs(self, stream: str, kind: str, also: str = "", most: int = 200) -> Sequence[Run]:
        """Return runs of a kind, the newest first."""
        return self._search([self.experiment(stream)], kind, also, most)

    def runs_elsewhere(self, stream: str, kind: str, also: str, most: int) -> Sequence[Run]:
        """Return runs of a kind on other streams, the newest first."""
        others = self.client.search_experiments(filter_string="name LIKE 'heddle/%'", max_results=MOST_STREAMS)
        ids = [experiment.experiment_id for experiment in others if experiment.tags.get(STREAM) != stream]
        return self._search(ids, kind, also, most)

    def _search(self, experiments: list[str], kind: str, also: str, most: int) -> Sequence[Run]:
        condition = f"tags.`{KIND}` = '{kind}'" + (f" and {also}" if also else "")
        newest = ["attributes.start_time DESC"]
        return self.client.search_runs(experiments, condition, max_results=most, order_by=newest) if experiments else []

    def read(self, run: str, name: str) -> bytes:
        """Read an artifact of a run."""
        from mlflow.exceptions import MlflowException

        with tempfile.TemporaryDirectory() as folder:
            try:
                return Path(self.client.download_artifacts(run, name, folder)).read_bytes()
            except MlflowException:  # which says of a server that is down that there is no such file
                self.client.get_run(run)
                raise UnreachableError(f"MLflow has no {name} of run {run} now; mend it, then run again") from None


def machine_tags(facts: Mapping[str, str]) -> dict[str, str]:
    """Return the fingerprint of a machine and its facts as tags.

    >>> machine_tags({"cores": "2"})
    {'heddle.machine': 'df3ea3535a80', 'heddle.machine.cores': '2'}
    """
    return {MACHINE: fingerprint_of(facts), **{f"{MACHINE}.{name}": value for name, value in facts.items()}}


@cache
def source_tags() -> dict[str, str]:
    """Return what fills MLflow's columns Source, User and Version."""
    tags = {"mlflow.source.name": "heddle", "mlflow.source.type": "JOB", "heddle.version": version("heddle")}
    with suppress(OSError, KeyError):  # a container may have no name for its user
        tags["mlflow.user"] = getpass.getuser()
    with suppress(OSError, subprocess.SubprocessError):
        if (ROOT / ".git").exists():
            command = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
            process = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)
            tags["mlflow.source.git.commit"] = process.stdout.strip()
    return tags


def open_store(settings: Settings, patience: float = PATIENCE) -> Store:
    """Open the store that the settings name; make its database file and folder where they are missing.

    A server that has not answered after `patience` seconds is down.
    """
    uri = settings.tracking
    if uri.startswith("sqlite:///"):
        Path(uri.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
    server = uri.startswith(("http://", "https://"))
    if server:
        _require_answer(uri, patience)
    from mlflow import MlflowClient

    return Store(WatchedClient(MlflowClient(uri, uri), uri), "" if server else settings.artifacts)


def _require_answer(uri: str, patience: float) -> None:
    """Refuse a server that does not answer at all: MLflow itself would try for minutes, and then show its stack."""
    import requests  # as MLflow does: with its proxies, and with a user in the address

    try:
        requests.get(f"{uri.rstrip('/')}/health", timeout=patience)
    except requests.exceptions.SSLError:  # an answer; whether to trust it is MLflow's matter
        return
    except requests.RequestException as error:
        reason: BaseException = error
        while reason.__context__ is not None:
            reason = reason.__context__
        raise UnreachableError(
            f"MLflow does not answer at {address_of(uri)} ({reason}); start it, or name another by HEDDLE_TRACKING"
        ) from None


def _escape_quotes(text: str) -> str:
    return text.replace("'", "")
