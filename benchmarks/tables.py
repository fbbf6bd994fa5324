"""A Delta and an Iceberg stream against the same rows in a folder of Parquet files: CPU seconds, answers compared.

Every run begins with a new warehouse, in one process, in turn with the others; the best of some rounds counts. The
bound is 1.1 times the folder.

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

from benchmarks.engine_world import RATE, middle_point, write_events, write_queries
from jobs.host.machine import CpuMeter
from jobs.results import results_table
from jobs.runs.in_process import evaluate_local
from optimizer.catalog.model.catalog import Catalog
from optimizer.planning.stream import plan_stream

STREAM = "events"
BOUND = 1.1


def write_tables(root: Path) -> dict[str, dict[str, object]]:
    """Write the files of the folder into both tables, an append each; return where the streams of all three are."""
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
        "parquet": {},
        "delta": {"format": "delta", "path": str(root / "delta")},
        "iceberg": {"format": "iceberg", "path": f"{uri}#db.events", "options": {"type": "sql"}},
    }


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
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_events(root / "data", options.events, 10)
        catalog = write_queries(root / "catalog", middle_point(options.queries), True)
        catalogs = {
            name: replace(catalog, streams={STREAM: replace(catalog.streams[STREAM], **source)})  # type: ignore[arg-type]  # fields by name
            for name, source in write_tables(root).items()
        }
        rounds = [{name: measure(root, catalogs[name], name) for name in catalogs} for _ in range(options.rounds)]
        best = {name: min(seconds[name] for seconds in rounds) for name in catalogs}
        print(f"{options.events:,} events, {options.queries} queries, best of {options.rounds}; CPU seconds")
        for name, seconds in best.items():
            for id in list(catalog.statements)[:10]:
                tables = [results_table(str(root / f"warehouse_{n}"), catalogs[n], id) for n in ("parquet", name)]
                assert sorted(map(str, tables[0].to_pylist())) == sorted(map(str, tables[1].to_pylist())), (name, id)
            ratio = seconds / best["parquet"]
            print(f"{name:8} {seconds:7.2f}  {ratio:5.2f} times{'' if ratio <= BOUND else f', above {BOUND}'}")


if __name__ == "__main__":
    main()
