"""Files whose columns have other types than those of the runs before: widened, or refused; no answer is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from jobs.results import results_table
from jobs.runs.in_process import evaluate_local
from jobs.runs.request import Options
from optimizer.errors import HeddleError
from tests.worlds.streams import SECOND, instant
from tests.worlds.warehouse import World, add_batch, make_world, query

QUERIES = [query("most", "max(n)", 10 * SECOND), query("squares", "max(n * n)", 10 * SECOND)]


def events(kind: pa.DataType, values: dict[int, int]) -> pa.Table:
    times = pa.array([instant(second * SECOND) for second in values], pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, "n": pa.array(values.values(), kind)})


def evaluate(world: World, strategy: str = "shared") -> None:
    evaluate_local(world.catalog, world.plan(strategy), str(world.folder / "warehouse"), Options(files_per_batch=1))


def answers(world: World, id: str) -> list[Any]:
    return results_table(str(world.folder / "warehouse"), world.catalog, id).columns[-1].to_pylist()


@pytest.mark.parametrize("strategy", ["shared", "no_share"])
def test_a_run_that_begins_with_narrower_types_goes_on_in_those_of_the_stream(tmp_path: Path, strategy: str) -> None:
    world = make_world(tmp_path, [events(pa.int64(), {0: 1 << 31, 3: 5})], QUERIES, 0)
    evaluate(world)
    add_batch(tmp_path, 1, events(pa.int32(), {4: 1 << 30, 25: 1 << 30}))
    evaluate(world, strategy)
    add_batch(tmp_path, 2, events(pa.int64(), {35: 1 << 31}))
    evaluate(world)
    assert answers(world, "most") == [1 << 31, 1 << 30]
    assert answers(world, "squares") == [1 << 62, 1 << 60]


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.string()])
def test_a_run_that_begins_with_other_types_is_refused_and_keeps_what_is_there(
    tmp_path: Path, kind: pa.DataType
) -> None:
    world = make_world(tmp_path, [events(pa.int32(), {0: 1, 3: 5, 12: 2})], QUERIES[:1], 0)
    evaluate(world)
    add_batch(
        tmp_path, 1, events(pa.int64(), {14: 9, 25: 1}).cast(pa.schema([events(kind, {}).schema.field(0), ("n", kind)]))
    )
    with pytest.raises(HeddleError, match=rf"part-00001.parquet: n is {kind}; write it as int32, .* new --warehouse"):
        evaluate(world)
    assert answers(world, "most") == [5]
    add_batch(tmp_path, 1, events(pa.int8(), {14: 9, 25: 1}))
    evaluate(world)
    assert answers(world, "most") == [5, 9]
