"""The parts of the evidence in the order of the page, and where a finished part is kept."""

from __future__ import annotations

import json
import os
import platform
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from benchmarks.evidence.figure import Figure, Progress, Size

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "run" / "evidence"
PACKAGES = ("numpy", "numba", "pyarrow", "pyspark")

PARTS = {  # the module whose `measure(size, progress)` gives the figures
    "peers": "benchmarks.peers.engines",
    "plans": "benchmarks.papers.plans",
    "weaving": "benchmarks.papers.weaving",
    "estimates": "benchmarks.papers.estimates",
    "kernels": "benchmarks.papers.kernels",
    "factors": "benchmarks.papers.factor_windows",
    "rewriting": "benchmarks.papers.rewriting",
    "sharing": "benchmarks.papers.sharing",
    "optimality": "benchmarks.optimality",
    "scaling": "benchmarks.peers.scaling",
    "ablations": "benchmarks.peers.ablations",
}
MINUTES = {  # that a part took on two cores at its usual size, for the progress line of a first run
    "peers": 7.0,
    "plans": 5.0,
    "weaving": 4.0,
    "estimates": 1.0,
    "kernels": 3.0,
    "factors": 0.1,
    "rewriting": 9.0,
    "sharing": 8.0,
    "optimality": 1.0,
    "scaling": 0.5,
    "ablations": 1.0,
}


@dataclass(frozen=True)
class Part:
    """The figures of one part, with when and on what they were measured."""

    name: str
    title: str
    figures: list[Figure]
    machine: str
    date: str
    size: str = "usual"
    seconds: float = 0.0  # that it took


def measure_part(name: str, size: Size, progress: Progress) -> Part:
    """Run a part of the evidence."""
    began, module = time.monotonic(), import_module(PARTS[name])
    figures = module.measure(size, progress)
    date, took = f"{datetime.now(UTC):%Y-%m-%d}", round(time.monotonic() - began)
    return Part(name, module.TITLE, figures, describe_machine(), date, size.name, took)


def describe_machine() -> str:
    """Return cores, architecture and versions: what a reader needs to judge a figure.

    >>> describe_machine().split(",")[0].endswith(("core", "cores"))
    True
    """
    cores = os.cpu_count() or 1
    words = [f"{cores} {'core' if cores == 1 else 'cores'}", platform.machine(), f"Python {platform.python_version()}"]
    return ", ".join([*words, *(f"{package} {version(package)}" for package in PACKAGES)])


def keep_part(part: Part, folder: Path = KEPT) -> None:
    """Write a finished part down, so that it is not repeated."""
    folder.mkdir(parents=True, exist_ok=True)
    data = {**part.__dict__, "figures": [figure.to_json() for figure in part.figures]}
    begun = folder / f"{part.name}.json.new"
    begun.write_text(json.dumps(data, indent=1))
    begun.replace(folder / f"{part.name}.json")  # a kept part is whole


def kept_part(name: str, folder: Path = KEPT) -> Part | None:
    """Return a part that has been measured, if it has."""
    path = folder / f"{name}.json"
    if not path.exists():
        return None
    data = json.loads(path.read_text())
    return Part(**{**data, "figures": [Figure.from_json(figure) for figure in data["figures"]]})


def expected_seconds(name: str, size: Size, folder: Path = KEPT) -> float:
    """Return how long a part takes: as long as the last time, or as on two cores."""
    part = kept_part(name, folder)
    return part.seconds if part and part.seconds and part.size == size.name else 60 * MINUTES[name]
