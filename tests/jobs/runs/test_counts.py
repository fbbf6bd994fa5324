"""What the engine counts is what the plan's model counts, tree by tree: keys, gaps, predicates, groupings, batches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.measure.stream import measure_stream
from jobs.runs.in_process import evaluate_local
from jobs.runs.report import RunReport
from jobs.runs.request import Options
from optimizer.algebra.techniques import BLOCK
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.plan.counters import (
    ANSWERED,
    CHAINED,
    FINAL,
    LOADED,
    MERGED,
    RAGGED,
    RAGGED_FOLD,
    REWRITTEN,
    SAVED,
    UNFOLDED,
    VALUE,
    WALKED,
)
from optimizer.planning.stream import plan_stream

SECOND = 1_000_000
REGULAR = ((60, 10), (300, 30), (120, 20), (600, 60))
UNCERTAIN = {
    SAVED: 0.1,
    LOADED: 0.1,
    MERGED: 0.1,
    f"{FINAL}{BLOCK}": 0.5,  # joins of windows with few slices are fewer than their mean tells
    UNFOLDED: 0.5,  # predicates share folds, as far as their shards are alike
    CHAINED: 0.3,  # a sample of the events tells
    ANSWERED: 0.1,
    RAGGED: 0.6,  # the engine looks at some windows, and the model knows no gaps
    RAGGED_FOLD: 0.6,
    WALKED: 0.1,
    VALUE: 0.1,
    REWRITTEN: 0.7,  # files of a size are merged again, whatever their batch
}
CLOSE, FEW = 0.05, 50
MANY = {RAGGED: 4000, RAGGED_FOLD: 4000}  # that take no time worth mentioning


@dataclass(frozen=True)
class Setting:
    """A stream, its queries, and how it is planned and cut into batches."""

    keys: int = 1
    strategy: str = "cascade"
    windows: tuple[tuple[int, int], ...] = REGULAR
    selects: tuple[str, ...] = ("sum(value)",)
    wheres: tuple[str, ...] = ("",)
    groupings: tuple[str, ...] = ("[machine]",)
    files: int = 1
    gaps: bool = False
    rate: int = 20
    buckets: int = 1


SETTINGS = {
    "one key": Setting(groupings=("[]",)),
    "100 keys": Setting(100),
    "100 keys in buckets": Setting(100, buckets=3, files=3),
    "1,000 keys": Setting(1000),
    "1,000 keys, one tree": Setting(1000, "shared"),
    "on a grid": Setting(5, "shared", windows=((20, 1), (60, 2), (100, 5))),
    "on a grid, with moments and few events that pass": Setting(
        5, "shared", ((20, 1), (60, 2), (100, 5)), selects=("sum(value)", "var_samp(other)"), wheres=("kind < 2",)
    ),
    "gaps": Setting(20, gaps=True),
    "irregular slides": Setting(50, windows=((47, 7), (90, 11), (130, 13), (61, 5))),
    "several aggregates": Setting(100, selects=("sum(value)", "avg(other)", "var_samp(value)", "count(*)")),
    "predicates": Setting(30, wheres=("", "kind < 20", "kind < 50")),
    "shards": Setting(3, "shared", wheres=tuple(f"kind < {20 + 7 * n}" for n in range(10)), rate=100),
    "groupings": Setting(40, groupings=("[machine]", "[hall]", "[machine, hall]", "[]")),
    "batches": Setting(100, files=6),
    "10,000 keys": Setting(10_000),
    "10,000 keys in batches": Setting(10_000, "shared", files=8),
    "a slow stream": Setting(10, rate=1, windows=((6000, 600), (1200, 120), (300, 60))),
    "a fast stream": Setting(10, rate=1000, windows=((20, 1), (400, 5), (60, 2))),
    "chunks of long windows": Setting(20, "shared", windows=((1500, 1), (600, 10), (1800, 60))),
    "chunks of long windows in small batches": Setting(20, windows=((1500, 2), (600, 10), (1000, 20)), files=20),
    "chunks of shards": Setting(
        2, "shared", ((1200, 2), (600, 10)), wheres=tuple(f"kind < {20 + 7 * n}" for n in range(8)), rate=100, files=5
    ),
    "windows longer than the stream": Setting(30, windows=((10_000, 20), (8_000, 50), (60, 10))),
    "many batches": Setting(5, windows=((600, 10), (120, 20)), files=40),
    "batches of several trees": Setting(10, "no_share", ((60, 2), (120, 3), (300, 5)), files=4),
}


def write(folder: Path, setting: Setting) -> Catalog:
    rng = np.random.default_rng(5)
    events = 40_000
    times = np.arange(events) * SECOND // setting.rate
    if setting.gaps:
        times += times // (200 * SECOND) * 500 * SECOND  # 200 seconds of events, then 500 without any
    (folder / "data").mkdir()
    for number, part in enumerate(np.array_split(np.arange(events), setting.files)):
        keys = rng.integers(0, setting.keys, len(part))
        columns = {
            "ts": pa.array(times[part], pa.timestamp("us", "UTC")),
            "machine": pa.array(keys),
            "hall": pa.array(keys % 7),
            "kind": pa.array(rng.integers(0, 100, len(part))),
            "value": rng.normal(size=len(part)),
            "other": rng.normal(size=len(part)),
        }
        pq.write_table(pa.table(columns), folder / "data" / f"part-{number}.parquet")
    lines = ["streams:", "  events: {source: {format: parquet, path: data}, time: ts, lateness: 0 seconds}", "queries:"]
    shapes = [(s, w, g) for s in setting.selects for w in setting.wheres for g in setting.groupings]
    for number, (select, where, group_by) in enumerate(shapes):
        for range_, slide in setting.windows:
            test = f', where: "{where}"' if where else ""
            clock = f"range: {range_} seconds, slide: {slide} seconds"
            name = f"q{number}_{range_}_{slide}"
            lines.append(f"  - {{id: {name}, stream: events, select: {select}{test}, group_by: {group_by}, {clock}}}")
    (folder / "catalog").mkdir()
    (folder / "catalog" / "catalog.yaml").write_text("\n".join(lines))
    return load_catalog(folder / "catalog")


def evaluate(folder: Path, setting: Setting) -> RunReport:
    catalog = write(folder, setting)
    known = measure_stream(catalog, "events")
    plan = plan_stream(catalog, "events", known.rate, setting.strategy, BLOCK, known.planned_keys, recent=known.recent)
    if setting.wheres[1:] and setting.strategy == "shared":
        assert plan.trees[0].sharded
    options = Options(buckets=setting.buckets, files_per_batch=1 if setting.files > 1 else 0)
    return evaluate_local(catalog, plan, str(folder / "out"), options)


@pytest.mark.parametrize("name", SETTINGS)
def test_model_and_engine_count_alike(name: str, tmp_path: Path) -> None:
    report = evaluate(tmp_path, SETTINGS[name])
    assert report.counted.keys() == report.estimated.keys()
    wrong = []
    for tree, counted in report.counted.items():
        estimated = report.estimated[tree]
        for thing in counted.keys() | estimated.keys():
            count, estimate = counted.get(thing, 0), estimated.get(thing, 0)
            if abs(estimate - count) > UNCERTAIN.get(thing, CLOSE) * count + MANY.get(thing, FEW):
                wrong.append((tree, thing, count, estimate))
    assert not wrong
    assert sum(done.get("row", 0) for done in report.counted.values()) == report.results
