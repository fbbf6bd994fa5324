"""A grouping that no query asks for: planned where measured keys say that it pays, executed, and never in an answer."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from jobs.measure.stream import measure_stream
from jobs.runs.in_process import evaluate_local
from jobs.runs.report import RunReport
from jobs.runs.request import Options
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.plan.counters import CELL, ROLLED
from optimizer.plan.definition import Plan
from optimizer.planning.stream import plan_stream

EVENTS, FILES = 60_000, 3
CATALOG = """
streams:
  e: {source: {format: parquet, path: data}, time: ts, lateness: 0 seconds}
queries:
  - {id: a, stream: e, select: max(x), group_by: [hall], range: 20 seconds, slide: 5 seconds}
  - {id: b, stream: e, select: max(x), group_by: [kind], range: 30 seconds, slide: 10 seconds}
  - {id: c, stream: e, select: avg(x), group_by: [kind], range: 40 seconds, slide: 5 seconds}
"""


def write(folder: Path, kinds: int) -> Catalog:
    rng = np.random.default_rng(1)
    (folder / "data").mkdir()
    for number, part in enumerate(np.array_split(np.arange(EVENTS), FILES)):
        columns = {name: rng.integers(0, most, len(part)) for name, most in (("hall", 7), ("kind", kinds), ("x", 100))}
        times = pa.array(part * 1000, pa.timestamp("us", "UTC"))
        pq.write_table(pa.table({"ts": times, **columns}), folder / "data" / f"{number}.parquet")
    (folder / "catalog").mkdir()
    (folder / "catalog" / "catalog.yaml").write_text(CATALOG)
    return load_catalog(folder / "catalog")


def plan_of(catalog: Catalog) -> Plan:
    known = measure_stream(catalog, "e")
    return plan_stream(catalog, "e", known.rate, "shared", keys=known.planned_keys, recent=known.recent)


def evaluate(catalog: Catalog, plan: Plan, folder: Path) -> tuple[RunReport, list[str]]:
    shutil.rmtree(folder, ignore_errors=True)
    report = evaluate_local(catalog, plan, str(folder), Options(files_per_batch=1))
    tables = [pq.read_table(path) for path in folder.rglob("results/**/*.parquet")]
    rows = pa.concat_tables(tables, promote_options="permissive").to_pylist()
    return report, sorted(str(sorted(row.items())) for row in rows)


def test_few_keys_are_folded_together(tmp_path: Path) -> None:
    catalog = write(tmp_path, kinds=11)
    plan = plan_of(catalog)
    (union,) = [tree for tree in plan.trees if not tree.queries]
    assert union.group_by == ("hall", "kind")
    assert {tree.feed for tree in plan.trees if tree is not union} == {union.id}
    report, rows = evaluate(catalog, plan, tmp_path / "union")
    apart = replace(plan, trees=tuple(replace(t, feed="events") for t in plan.trees if t is not union))
    assert rows == evaluate(catalog, apart, tmp_path / "apart")[1]
    assert report.counted[union.id][CELL] == EVENTS
    others = [counts for tree, counts in report.counted.items() if tree not in ("", union.id)]
    assert all(CELL not in counts and counts[ROLLED] > 0 for counts in others)


def test_many_keys_are_not(tmp_path: Path) -> None:
    catalog = write(tmp_path, kinds=20_000)
    assert all(tree.queries for tree in plan_of(catalog).trees)
