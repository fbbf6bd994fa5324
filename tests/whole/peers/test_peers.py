"""Other engines' own suites: their events give their rows here, too."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pyarrow as pa
import pytest

from jobs.results import late_table, results_table
from jobs.runs.in_process import evaluate_local
from jobs.runs.request import Options
from optimizer.catalog.read.load import load_catalog
from tests.whole.peers.cases import CASES, END, Case, Rows, table_of_cases
from tests.worlds.streams import ticks
from tests.worlds.warehouse import STREAM, World, add_batch

SCHEMA = pa.schema([("ts", pa.timestamp("us", "UTC")), ("x", pa.float64()), ("k", pa.string())])
DOCS = Path(__file__).parents[3] / "docs"


def make_world(folder: Path, case: Case) -> World:
    """Write the catalog of a case; its events come later."""
    (folder / "catalog").mkdir(parents=True)
    (folder / "data").mkdir()
    source = {"format": "parquet", "path": str(folder / "data")}
    query = {"id": "q", "stream": STREAM, "select": case.select, **case.window}
    query |= {"group_by": ["k"]} if case.keyed else {}
    query |= {"where": case.where} if case.where else {}
    stream = {"source": source, "time": "ts", "lateness": case.lateness}
    document = {"streams": {STREAM: stream}, "queries": [query]}
    (folder / "catalog" / "catalog.yaml").write_text(json.dumps(document))
    return World(folder, load_catalog(folder / "catalog"))


def rows_of(case: Case, world: World) -> Rows:
    """Every row that is there."""
    table = results_table(str(world.folder / "warehouse"), world.catalog, "q").to_pylist()
    rows: Rows = {}
    for row in table:
        start = ticks(row["window"]["start"]) / 1e6 - case.base
        rows[row.get("k"), round(start, 3)] = list(row.values())[-1]
    return {place: value for place, value in rows.items() if place[1] >= case.since}


def agree(found: Rows, expected: Rows) -> bool:
    """The same windows, and the same values but for the rounding of sums."""
    if found.keys() != expected.keys():
        return False
    pairs = [(found[place], expected[place]) for place in expected]
    return all(a == b if a is None or b is None else math.isclose(a, b, rel_tol=1e-9) for a, b in pairs)


@pytest.mark.parametrize("case", CASES, ids=[f"{case.suite}: {case.name}" for case in CASES])
def test_rows(tmp_path: Path, case: Case) -> None:
    world = make_world(tmp_path, case)
    step_by_step = case.expected if isinstance(case.expected, list) else []
    has_end = case.has_end and not step_by_step
    batches = [*case.batches, [(END, None, "the end")]] if has_end else case.batches
    for number, batch in enumerate(batches):
        events = [
            {"ts": None if at is None else round((case.base + at) * 1_000_000), "x": x, "k": k} for at, x, k in batch
        ]
        times = pa.array([event["ts"] for event in events], pa.int64()).cast(SCHEMA.field("ts").type)
        columns = [
            times,
            *(pa.array([event[name] for event in events], SCHEMA.field(name).type) for name in ("x", "k")),
        ]
        add_batch(tmp_path, number, pa.table(columns, schema=SCHEMA))
        if not has_end or number == len(batches) - 1:
            evaluate_local(world.catalog, world.plan("shared"), str(tmp_path / "warehouse"), Options("auto", 1))
        if step_by_step:
            assert agree(rows_of(case, world), step_by_step[number]), (number, rows_of(case, world))
    if isinstance(case.expected, dict):
        expected = {(key if case.keyed else None, start): value for (key, start), value in case.expected.items()}
        assert agree(rows_of(case, world), expected), rows_of(case, world)
    if case.late is not None:
        assert late_table(str(tmp_path / "warehouse"), STREAM).num_rows == case.late


def test_the_page_has_the_table() -> None:
    assert table_of_cases() in (DOCS / "trust.md").read_text()
