"""How long a catalog takes to load, beside what the file formats' own readers take for the same bytes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import yaml

from optimizer.catalog.read.load import load_catalog

YAML_QUERIES = 10_000
BULK_QUERIES = 1_000_000
REPEATS = 3
STREAM = "streams:\n  vibration: {source: {path: data/vibration}, time: ts, lateness: 5 seconds}\n"


def main() -> None:
    """Print the ratios."""
    with tempfile.TemporaryDirectory() as folder:
        _report_yaml(Path(folder) / "fields", "YAML in fields", _fields)
        _report_yaml(Path(folder) / "sql", "YAML in SQL", _sql)
        _report_bulk(Path(folder) / "parquet", ".parquet")
        _report_bulk(Path(folder) / "csv", ".csv")


def _fields(number: int) -> str:
    return (
        f"  - {{id: q{number}, stream: vibration, select: max(x{number % 7}), where: \"label = 'l{number % 50}'\", "
        f"group_by: [machine], range: {number % 600 + 60} seconds, slide: {number % 60 + 1} seconds}}\n"
    )


def _sql(number: int) -> str:
    return (
        f"  - id: q{number}\n    sql: SELECT machine, window, max(x{number % 7}) AS peak FROM vibration "
        f"GROUP BY machine, window(ts, '{number % 600 + 60} seconds', '{number % 60 + 1} seconds')\n"
    )


def _report_yaml(folder: Path, name: str, entry: Callable[[int], str]) -> None:
    text = STREAM + "queries:\n" + "".join(map(entry, range(YAML_QUERIES)))
    folder.mkdir()
    (folder / "catalog.yaml").write_text(text)
    reader = _best(lambda: yaml.load(text, Loader=yaml.CSafeLoader))
    _report(f"{YAML_QUERIES:,} queries, {name}", _best(lambda: load_catalog(folder)), "yaml's C loader", reader)


def _report_bulk(folder: Path, suffix: str) -> None:
    folder.mkdir()
    (folder / "streams.yaml").write_text(STREAM)
    file = folder / f"queries{suffix}"
    (pq.write_table if suffix == ".parquet" else pa_csv.write_csv)(_bulk(), file)
    reader = _best(lambda: pq.read_table(file) if suffix == ".parquet" else pa_csv.read_csv(file))
    _report(f"{BULK_QUERIES:,} queries, bulk {suffix}", _best(lambda: load_catalog(folder)), "pyarrow", reader)


def _bulk() -> Any:
    random = np.random.default_rng(1)
    slides = random.integers(1, 1000, BULK_QUERIES)
    ranges = slides * random.integers(1, 100, BULK_QUERIES)
    return pa.table(
        {
            "id": [f"q{number}" for number in range(BULK_QUERIES)],
            "stream": ["vibration"] * BULK_QUERIES,
            "select": [f"max(x{number})" for number in random.integers(0, 20, BULK_QUERIES)],
            "where": [f"label = 'l{number}'" for number in random.integers(0, 50, BULK_QUERIES)],
            "group_by": ["machine"] * BULK_QUERIES,
            "range": [f"{ticks} seconds" for ticks in ranges.tolist()],
            "slide": [f"{ticks} seconds" for ticks in slides.tolist()],
        }
    )


def _best(work: Callable[[], object]) -> float:
    """The least CPU time of a few runs: the machine may be busy with other things."""
    times = []
    for _ in range(REPEATS):
        started = process_time()
        work()
        times.append(process_time() - started)
    return min(times)


def _report(name: str, ours: float, reader: str, theirs: float) -> None:
    print(f"{name}: {ours:.2f} CPU s, {reader} alone {theirs:.2f}, ratio {ours / theirs:.1f}")


if __name__ == "__main__":
    main()
