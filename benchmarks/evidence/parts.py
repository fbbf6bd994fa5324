"""The parts of the evidence in the order of the page, and where a finished part is kept."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
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


@dataclass(frozen=True)
class Part:
    """The figures of one part, with when and on what they were measured."""

    name: str
    title: str
    figures: list[Figure]
    machine: str
    date: str


def measure_part(name: str, size: Size, progress: Progress) -> Part:
    """Run a part of the evidence."""
    module = import_module(PARTS[name])
    figures = module.measure(size, progress)
    return Part(name, module.TITLE, figures, describe_machine(), f"{datetime.now(UTC):%Y-%m-%d}")


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
    (folder / f"{part.name}.json").write_text(json.dumps(data, indent=1))


def kept_part(name: str, folder: Path = KEPT) -> Part | None:
    """Return a part that has been measured, if it has."""
    path = folder / f"{name}.json"
    if not path.exists():
        return None
    data = json.loads(path.read_text())
    return Part(**{**data, "figures": [Figure.from_json(figure) for figure in data["figures"]]})


def kept_parts(folder: Path = KEPT) -> Iterable[Part]:
    """Return the parts that have been measured, in the order of the page."""
    return [part for name in PARTS if (part := kept_part(name, folder))]
