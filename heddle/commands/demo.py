"""`heddle demo`: the whole of Heddle on embedded defaults, through its real DAGs; what `make run` calls."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from heddle.processes import Airflow, start_airflow

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "catalog"
EVENTS: dict[str, dict[str, Any]] = {
    "sensors": {"events": 160_000, "rate": 200.0, "file_events": 40_000, "out_of_order": 0.02},
    "trades": {"events": 60_000, "rate": 100.0, "keys": 20, "file_events": 20_000, "nulls": 0.001},
}
LATER = {"sensors": 1}  # files that arrive after the first evaluation


def demo(
    folder: Annotated[Path, typer.Option("--out", help="Where everything goes; it is emptied first.")] = Path("run"),
) -> None:
    """Generate events, replan, evaluate, audit, publish and log, through the DAGs; then say what came of it."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    home = folder.resolve()
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(EXAMPLES, home / "catalog")
    with _step(console, "generating events"):
        held_back = _generate(home)
    with _step(console, "starting Airflow"):
        airflow = start_airflow(home)
    try:
        _run(console, airflow, "replan", {})
        _run(console, airflow, "evaluate", {"files_per_batch": 1, "sample": 2})
        for file, place in held_back:
            file.rename(place)
        console.print(f"\n{len(held_back)} more file has arrived")
        _run(console, airflow, "evaluate", {"sample": 2})
    finally:
        airflow.close()
    _summary(console, home, folder)


def _generate(home: Path) -> list[tuple[Path, Path]]:
    """Write the events, and hold some files back: where they are, and where they will arrive."""
    from jobs.generate import generate
    from jobs.generate.options import Options

    held_back = []
    for stream, options in EVENTS.items():
        place, store = home / "data" / stream, home / "later" / stream
        generate(stream, Options(**options), place, lambda rows: None)
        files = sorted(place.glob("*.parquet"))
        store.mkdir(parents=True)
        later = files[len(files) - LATER.get(stream, 0) :]
        held_back += [(file.rename(store / file.name), file) for file in later]
    return held_back


def _run(console: Console, airflow: Airflow, dag: str, conf: dict[str, Any]) -> None:
    """Run a DAG, showing what its steps say."""
    console.print(f"\nDAG {dag} {conf or ''}".rstrip(), style="bold")
    started = time.monotonic()
    with console.status(dag):
        outcome = airflow.run(dag, conf, lambda line: console.print(f"  {line}"))
    console.print(f"  {dag} {outcome['state']} in {time.monotonic() - started:.0f} s", style="dim")
    if outcome["state"] != "success":
        console.print(f"The log is {airflow.log}")
        raise typer.Exit(1)


@contextmanager
def _step(console: Console, name: str) -> Iterator[None]:
    started = time.monotonic()
    with console.status(name):
        yield
    console.print(f"{name}: {time.monotonic() - started:.0f} s", style="dim")


def _summary(console: Console, home: Path, folder: Path) -> None:
    from jobs.host.settings import settings
    from jobs.steps.summary import summaries

    console.print("\nWhat came of it", style="bold")
    for line in summaries(settings({"HEDDLE_HOME": str(home)}), list(EVENTS)):
        console.print(f"  {line}")
    console.print(
        f"\nEverything is in {folder}: catalog, data, warehouse (results and audit pages), tracking, airflow.\n"
        f"Next: make ui opens Airflow and MLflow on it; .venv/bin/heddle results {folder}/catalog energy_1_peak_1m "
        f"--warehouse {folder}/warehouse shows answers."
    )
