"""`heddle demo`: the whole of Heddle on embedded defaults, through its real DAGs; what `make run` calls.

`heddle ui`: Airflow and MLflow on this machine, until Ctrl-C; what `make ui` calls.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.padding import Padding

from heddle.demo.world import data_folder, reserve_folder
from heddle.processes import (
    LOOPBACK,
    Airflow,
    Service,
    environment,
    free_port,
    start_airflow,
    start_service,
    stop_services,
    wait_for,
)

EXPECTED = 90  # seconds on two quiet cores
ARRIVAL = 60.0  # seconds between files of the reserve
MARK = ".first-run"  # a file by which a folder may be emptied again
PASSWORDS = "simple_auth_manager_passwords.json.generated"
QUIET = {
    "AIRFLOW__API__HOST": LOOPBACK,
    "AIRFLOW__API__WORKERS": "1",
    "AIRFLOW__CORE__PARALLELISM": "4",
    "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "30",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # nothing of it is used here, and it takes twice the memory
    "MLFLOW_DISABLE_TELEMETRY": "true",
}


@dataclass
class Progress:
    """Says how far the run is, and how long it takes as a rule."""

    console: Console
    started: float = field(default_factory=time.monotonic)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Show a step while it lasts."""
        is_slow = time.monotonic() - self.started > EXPECTED
        usual = f", {_clock(EXPECTED)} on two quiet cores" if is_slow else f" of about {_clock(EXPECTED)}"
        self.console.print(f"[{self.clock()}{usual}] {name}", style="bold")
        with self.console.status(name):
            yield

    def tell(self, line: str) -> None:
        """Show what a step says, indented; paths from here on."""
        self.console.print(Padding(line.replace(f"{Path.cwd()}/", ""), (0, 0, 0, 2), expand=False))

    def clock(self) -> str:
        """Return the time that has passed."""
        return _clock(time.monotonic() - self.started)


def demo(
    folder: Annotated[Path, typer.Option("--out", help="Where everything goes; it is emptied first.")] = Path("run"),
) -> None:
    """Generate events, replan, evaluate, audit, publish and log, through the DAGs; then say what came of it."""
    from heddle.demo.outcome import IMAGE, draw, read_outcome, show
    from heddle.demo.world import EVENTS, RESERVE, data_folder, make_world

    console = Console(highlight=False, markup=False)
    progress, home = Progress(console), folder.resolve()
    empty_folder(folder)
    with progress.step(f"generating {EVENTS + RESERVE:,} events"):
        later = make_world(home)
    with progress.step("starting Airflow"):
        airflow = start_airflow(home)
    try:
        _run(progress, airflow, "heddle_replan", {})
        _run(progress, airflow, "heddle_evaluate", {"files_per_batch": 4, "sample": 3})
        for file in later:
            file.rename(data_folder(home) / file.name)
        later[0].parent.rmdir()
        console.print(f"{len(later)} more files have arrived")
        _run(progress, airflow, "heddle_evaluate", {"stream": "readings", "sample": 3})
    finally:
        airflow.close()
    with progress.step("asking plain Spark five of the queries, over a slice of the events"):
        _measure_plain_spark(home, console)
    outcome = read_outcome(home)
    draw(outcome, home / IMAGE)
    show(console, outcome, folder)
    console.print(f"Logs: {folder}/airflow/runs.log, {folder}/plain_spark.log. All this took {progress.clock()}.")


def empty_folder(folder: Path) -> None:
    """Empty the folder of an earlier first run; refuse one that holds anything else."""
    from optimizer.errors import HeddleError

    home = folder.resolve()
    is_own = any((home / mark).exists() for mark in (MARK, "airflow/runs.log"))  # the second: of older versions
    if home.exists() and not (home.is_dir() and (is_own or not any(home.iterdir()))):
        raise HeddleError(f"{folder}: there is something that no first run has made; name another --out, or remove it")
    try:
        if home.exists():
            shutil.rmtree(home)
        home.mkdir(parents=True)
        (home / MARK).touch()
    except FileNotFoundError as error:  # /proc says so of folders that nobody can make
        raise HeddleError(f"{folder}: cannot be made ({error.strerror}); name another --out") from None


def _run(progress: Progress, airflow: Airflow, dag: str, conf: dict[str, Any]) -> None:
    """Run a DAG, showing what its steps say."""
    with progress.step(f"DAG {dag}"):
        outcome = airflow.run(dag, conf, progress.tell)
    if outcome["state"] != "success":
        progress.console.print(f"DAG {dag}: {outcome['state']}. The log is {airflow.log}")
        raise typer.Exit(1)


def _measure_plain_spark(home: Path, console: Console) -> None:
    """Let a process of its own measure plain Spark, its chatter in a log."""
    log = home / "plain_spark.log"
    command = [sys.executable, "-m", "heddle.demo.plain_spark", str(home), str(home / "plain_spark.json")]
    with log.open("w") as sink:
        process = subprocess.run(command, env=environment(home), stdout=sink, stderr=sink, check=False)
    if process.returncode:
        console.print(f"plain Spark has failed. The log is {log}")
        raise typer.Exit(1)


def _clock(seconds: float) -> str:
    """Return seconds as minutes and seconds.

    >>> _clock(75.4)
    '1:15'
    """
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def ui(
    home: Annotated[Path, typer.Option("--home", help="The platform's folder, as `make run` fills it.")] = Path("run"),
    port: Annotated[int, typer.Option(help="Airflow's; the next free one is taken when it is not.")] = 8080,
    mlflow_port: Annotated[int, typer.Option(help="MLflow's, likewise.")] = 5000,
) -> None:
    """Start Airflow and MLflow, say where they are, and stop both on Ctrl-C."""
    for ending in (signal.SIGINT, signal.SIGTERM):  # a shell starts what is in its background deaf to the first
        signal.signal(ending, _interrupt)
    console = Console(highlight=False, soft_wrap=True)
    running: list[Service] = []
    try:
        with console.status("starting Airflow and MLflow, half a minute or so ..."):
            address, tracking = _start(home.resolve(), port, mlflow_port, running)
        reserve = sorted(reserve_folder(home.resolve()).glob("*.parquet"))
        _welcome(console, home.resolve(), address, tracking, len(reserve))
        _serve(running, reserve, data_folder(home.resolve()))
    except KeyboardInterrupt:
        console.print("\nstopping ...")
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C would leave processes behind
        stop_services(running)


def _serve(running: list[Service], reserve: list[Path], folder: Path) -> None:
    """Keep watch until Ctrl-C, and let a file of the reserve arrive every minute."""
    arrival = time.monotonic() + ARRIVAL
    while True:
        time.sleep(0.5)
        for service in running:
            service.check()
        if reserve and time.monotonic() >= arrival:
            file = reserve.pop(0)
            file.rename(folder / file.name)
            (folder / file.name).touch()  # it arrives now, and files are taken in the order they arrive
            arrival += ARRIVAL


def _start(home: Path, port: int, mlflow_port: int, running: list[Service]) -> tuple[str, str]:
    """Start both services, each added to `running`; return Airflow's address and MLflow's once they answer."""
    from heddle.processes import ROOT, environment
    from jobs.host.settings import settings

    variables = environment(home) | QUIET
    place = settings(variables)
    variables["HEDDLE_TRACKING"] = place.tracking
    if not any(point.name == "heddle" for point in entry_points(group="airflow.plugins")):  # else it would load twice
        variables["AIRFLOW__CORE__PLUGINS_FOLDER"] = str(ROOT / "plugins")
    tracking = place.tracking
    if not tracking.startswith("http"):
        tracking = f"http://{LOOPBACK}:{free_port(mlflow_port)}"
        running.append(_mlflow(home, place.tracking, tracking, variables))
    address = f"http://{LOOPBACK}:{free_port(port)}"
    variables |= {
        "HEDDLE_MLFLOW_UI": tracking,
        "AIRFLOW__API__PORT": address.rpartition(":")[2],
        "AIRFLOW__API__BASE_URL": address,
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{address}/execution/",
    }
    airflow = [sys.executable, "-m", "airflow", "standalone"]
    # SIGTERM would end it without its children
    running.append(start_service("Airflow", airflow, variables, home / "logs" / "airflow.log", signal.SIGINT))
    wait_for(running[-1], f"{address}/api/v2/monitor/health")
    if len(running) > 1:
        wait_for(running[0], f"{tracking}/health")
    return address, tracking


def _mlflow(home: Path, store: str, address: str, variables: dict[str, str]) -> Service:
    if store.startswith("sqlite:///"):
        Path(store.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
    place = ["--host", LOOPBACK, "--port", address.rpartition(":")[2], "--workers", "1"]
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", store, *place]
    return start_service("MLflow", command, variables, home / "logs" / "mlflow.log")


def _welcome(console: Console, home: Path, address: str, tracking: str, reserve: int) -> None:
    passwords = json.loads((home / "airflow" / PASSWORDS).read_text())
    console.print(f"Airflow       {address}   user admin, password {passwords['admin']}", markup=False)
    console.print(f"Heddle's page {address}/heddle/", markup=False)
    console.print(f"MLflow's runs {tracking}/#/experiments?workflowType=machine_learning", markup=False)
    if not (home / "catalog").is_dir():
        console.print(f"Nothing is in {home} yet: `make run` fills it.", markup=False)
    if reserve:
        console.print(
            f"A file of events arrives every minute, {reserve} in all: "
            "unpause the DAG heddle_evaluate to see it take them.",
            markup=False,
        )
    console.print("Ctrl-C stops both.", markup=False)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
