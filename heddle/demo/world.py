"""What the first run works on: a catalog, two streams of generated events, and a reserve that arrives later."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "demo" / "queries.py"
STREAM, SMALL = "readings", "trades"
EVENTS = 5_000_000
FILE = 250_000
RESERVE = 500_000  # events of the same stream that arrive while `make ui` runs
PIECE = 10_000  # events of a file of the reserve
LATER = 4  # files that arrive after the first evaluation
OPTIONS: dict[str, dict[str, Any]] = {
    STREAM: {"events": EVENTS + RESERVE, "rate": 1000.0, "file_events": FILE, "out_of_order": 0.01},
    SMALL: {"events": 60_000, "rate": 100.0, "keys": 20, "file_events": 60_000},
}
KINDS = {STREAM: "sensors", SMALL: "trades"}  # which generator makes them


def make_world(home: Path) -> list[Path]:
    """Write the catalog, the events and the reserve; return the files that are held back for the second evaluation."""
    (home / "catalog").mkdir(parents=True)
    (home / "catalog" / "queries.yaml").write_text(runpy.run_path(str(EXAMPLE))["catalog"]())
    for stream in OPTIONS:
        _generate(stream, home / "data" / stream)
    files = sorted((home / "data" / STREAM).glob("*.parquet"))
    arrived = EVENTS // FILE
    _cut_reserve(files[arrived:], reserve_folder(home))
    later = home / "later"
    later.mkdir()
    return [file.rename(later / file.name) for file in files[arrived - LATER : arrived]]


def reserve_folder(home: Path) -> Path:
    """Return where the files wait that arrive while `make ui` runs."""
    return home / "reserve" / STREAM


def data_folder(home: Path) -> Path:
    """Return where the files of the large stream arrive."""
    return home / "data" / STREAM


def _generate(stream: str, folder: Path) -> None:
    from jobs.generate import generate
    from jobs.generate.draws import Options

    generate(KINDS[stream], Options(**OPTIONS[stream]), folder, lambda rows: None)


def _cut_reserve(files: list[Path], folder: Path) -> None:
    """Cut the last files into small ones, in the order of their events."""
    folder.mkdir(parents=True)
    number = 0
    for file in files:
        table = pq.read_table(file)
        for start in range(0, table.num_rows, PIECE):
            pq.write_table(table.slice(start, PIECE), folder / f"reserve-{number:06}.parquet", store_schema=False)
            number += 1
        file.unlink()
