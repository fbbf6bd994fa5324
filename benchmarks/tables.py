"""A Delta and an Iceberg stream against a folder of the very same Parquet files: CPU seconds, answers compared.

The folder of each table has a copy of its files: the libraries write them in different ways (Iceberg's compress more),
and reading them is to cost the same. Every run begins with a new warehouse, in one process, in turn with the others;
the best of some rounds counts. The bound is 1.1 times the folder.

    python -m benchmarks.tables [--events 10000000] [--queries 100] [--rounds 3]
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
from deltalake import write_deltalake
from pyiceberg.catalog import load_catalog as load_iceberg

from benchmarks.engine_world import RATE, middle_point, show, write_events, write_queries
from jobs.engine.sources import list_input_files
from jobs.host.machine import CpuMeter
from jobs.results import results_table
from jobs.runs.in_process import evaluate_local
from optimizer.catalog.model.catalog import Catalog
from optimizer.planning.stream import plan_stream

STREAM = "events"
BOUND = 1.1


def write_tables(root: Path) -> dict[str, dict[str, object]]:
    """Write the files of the folder into both tables, an append each; return where the streams of both are."""
    uri = f"sqlite:///{root}/catalog.db"
    catalog = load_iceberg("default", type="sql", uri=uri, warehouse=str(root / "iceberg"))
    catalog.create_namespace("db")
    table = None
    for file in sorted((root / "data").iterdir()):
        rows = pq.read_table(file)
        table = table or catalog.create_table("db.events", schema=rows.schema)
        table.append(rows)
        write_deltalake(str(root / "delta"), rows, mode="append")
    return {
        "delta": {"format": "delta", "path": str(root / "delta")},
        "iceberg": {"format": "iceberg", "path": f"{uri}#db.events", "options": {"type": "sql"}},
    }


def with_source(catalog: Catalog, source: dict[str, object]) -> Catalog:
    """Return the catalog with another source of its stream."""
    stream = replace(catalog.streams[STREAM], **source)  # type: ignore[arg-type]  # fields by name
    return replace(catalog, streams={STREAM: stream})


def copy_files(table: Catalog, folder: Path) -> None:
    """Copy the files of a table, in their order."""
    folder.mkdir()
    for number, file in enumerate(list_input_files(table.streams[STREAM])):
        shutil.copy(file.path, folder / f"{number:06d}.parquet")


def measure(root: Path, catalog: Catalog, name: str) -> float:
    """Return the CPU seconds of one evaluation of all events."""
    warehouse = root / f"warehouse_{name}"
    shutil.rmtree(warehouse, ignore_errors=True)
    plan = plan_stream(catalog, STREAM, RATE)
    with CpuMeter() as meter:
        evaluate_local(catalog, plan, str(warehouse))
    return meter.cpu_seconds


def main() -> None:
    """Write, measure in turn, compare the answers, print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        write_events(root / "data", options.events, 10)
        catalog = write_queries(root / "catalog", middle_point(options.queries), True)
        catalogs: dict[str, Catalog] = {}
        for name, source in write_tables(root).items():
            catalogs[name] = with_source(catalog, source)
            copy_files(catalogs[name], root / f"files of {name}")
            catalogs[f"files of {name}"] = with_source(catalog, {"path": str(root / f"files of {name}")})
        rounds = [{name: measure(root, catalogs[name], name) for name in catalogs} for _ in range(options.rounds)]
        best = {name: min(seconds[name] for seconds in rounds) for name in catalogs}
        for name in ("delta", "iceberg"):
            folder = f"files of {name}"
            for id in list(catalog.statements)[:10]:
                tables = [results_table(str(root / f"warehouse_{each}"), catalogs[each], id) for each in (name, folder)]
                assert tables[0].equals(tables[1]), (name, id)  # both by window and keys
            detail = f"{best[name]:.2f} s; {best[folder]:.2f} s; {options.events:,} events, {options.queries} queries"
            show(f"{name} / a folder of its files", best[name] / best[folder], f"at most {BOUND}", detail)


if __name__ == "__main__":
    main()
