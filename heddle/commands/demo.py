"""`heddle demo`: the whole of Heddle on embedded defaults, through its real DAGs; what `make run` calls."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.padding import Padding

from heddle.processes import Airflow, environment, start_airflow

EXPECTED = 140  # seconds on two quiet cores


@dataclass
class Progress:
    """Says how far the run is, and how long it takes as a rule."""

    console: Console
    started: float = field(default_factory=time.monotonic)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Show a step while it lasts."""
        self.console.print(f"[{self.clock()} of about {_clock(EXPECTED)}] {name}", style="bold")
        with self.console.status(name):
            yield

    def tell(self, line: str) -> None:
        """Show what a step says, indented; paths from here on."""
        self.console.print(Padding(line.replace(f"{Path.cwd()}/", ""), (0, 0, 0, 2)))

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
    shutil.rmtree(home, ignore_errors=True)
    with progress.step(f"generating {EVENTS + RESERVE:,} events"):
        later = make_world(home)
    with progress.step("starting Airflow"):
        airflow = start_airflow(home)
    try:
        _run(progress, airflow, "heddle_replan", {})
        _run(progress, airflow, "heddle_evaluate", {"files_per_batch": 4, "sample": 3})
        for file in later:
            file.rename(data_folder(home) / file.name)
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
