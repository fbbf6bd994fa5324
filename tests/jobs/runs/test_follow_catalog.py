"""Queries join and leave while a run goes on: the others are not disturbed, and answers are as if planned at once."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from jobs.engine.program.program import key_column
from jobs.engine.sources.contract import File
from jobs.engine.warehouse.consumed_files import add_record, load_records
from jobs.engine.warehouse.result_files import QUERY, START, value_column
from jobs.kernels.slices.edges import edges_between
from jobs.runs.in_process import OneProcess
from jobs.runs.on_spark import CatalogFollower, next_edges
from jobs.runs.run import open_run, silent
from optimizer.catalog.write import add_query, remove_query
from optimizer.windows.edges import union
from optimizer.windows.window import BEGINNING
from tests.worlds.streams import SECOND, odd_row, ticks
from tests.worlds.warehouse import STREAM, World, make_world

BATCHES, EVENTS = 12, 60
RANGES = ((20, 5), (14, 4), (9, 9), (30, 6), (7, 2))


def entry(number: int) -> dict[str, object]:
    length, slide = RANGES[number % len(RANGES)]
    select = ("max(x)", "count(*)", "min(n)")[number % 3]
    window = {"range": f"{length} seconds", "slide": f"{slide} seconds"}
    return {"id": f"q{number}", "stream": STREAM, "select": select, "group_by": ["k"], **window}


def world_of(folder: Path, queries: list[int]) -> World:
    batches = [
        [odd_row((batch * EVENTS + place) * SECOND // 4, batch * EVENTS + place) for place in range(EVENTS)]
        for batch in range(BATCHES)
    ]
    return make_world(folder, batches, [entry(number) for number in queries], SECOND)


@dataclass
class Outcome:
    """Every row, and between which watermarks each query was there."""

    rows: dict[str, dict[tuple[Any, int], Any]]  # query -> (key, window start) -> value
    joined: dict[str, int]
    left: dict[str, int]


def run_through(world: World, churn: bool, said: list[str]) -> Outcome:
    """Every file is a batch; with churn, a query joins or leaves before each."""
    plan, rng = world.plan("cascade", "two_stacks_block"), random.Random(3)
    folder = world.folder / "catalog"
    follower = CatalogFollower(folder, said.append)
    present, outcome = [0, 1, 2], Outcome({}, {}, {})
    with open_run(world.catalog, plan, str(world.folder / "warehouse"), "local", 1, silent) as run:
        for batch, file in enumerate(world.files):
            if churn and batch:
                if len(present) > 2 and rng.random() < 0.5:
                    remove_query(folder, f"q{present.pop(1)}")
                else:
                    present.append(2 + batch)
                    add_query(folder, entry(present[-1]))
                change = follower.look(run.catalog, run.plan, run.manifest.watermark)
                assert change is not None
                outcome.joined |= dict.fromkeys(change.joined, run.manifest.watermark)
                outcome.left |= dict.fromkeys(change.left, run.manifest.watermark)
                run.follow(change.catalog, change.plan)
            files = [File(str(file), file.stat().st_size)]
            add_record(run.storage, load_records(run.storage), batch, files)
            run.evaluate(batch, files, OneProcess(run.catalog, run.plan))
        run.finish(OneProcess(run.catalog, run.plan))
    for file in run.manifest.results:
        for row in pq.read_table(run.storage.path(file.name), filesystem=run.storage.filesystem).to_pylist():
            values = [value for name, value in row.items() if name.startswith(value_column("")) and value is not None]
            query = outcome.rows.setdefault(row[QUERY].partition("@")[0], {})
            place = row[key_column("k")], ticks(row[START])
            assert place not in query
            query[place] = str(values)  # NaN is itself
    return outcome


def test_queries_join_and_leave_between_batches(tmp_path: Path) -> None:
    said: list[str] = []
    churned = run_through(world_of(tmp_path / "churn", [0, 1, 2]), True, said)
    asked = [int(id.removeprefix("q")) for id in {"q0", "q1", "q2", *churned.joined}]
    steady = run_through(world_of(tmp_path / "steady", sorted(asked)), False, said)
    assert len(churned.joined) > 3
    assert len(churned.left) > 2
    for query in sorted(churned.rows):
        length = RANGES[int(query.removeprefix("q")) % len(RANGES)][0] * SECOND
        after, until = churned.joined.get(query, BEGINNING), churned.left.get(query, 1 << 62)
        expected = {place: value for place, value in steady.rows[query].items() if after < place[1] + length <= until}
        assert churned.rows[query] == expected, query
    assert "q0" in churned.rows
    assert sum("joined" in line for line in said) == BATCHES - 1


def test_a_mistake_is_told_once_and_the_queries_go_on(tmp_path: Path) -> None:
    world, said = world_of(tmp_path, [0, 1]), list[str]()
    follower = CatalogFollower(tmp_path / "catalog", said.append)
    plan = world.plan("shared", "two_stacks_block")
    assert follower.look(world.catalog, plan, 0) is None
    wrong = tmp_path / "catalog" / "wrong.yaml"
    wrong.write_text("queries: [{id: q9, stream: events, select: nonsense(x), range: 1 second, slide: 1 second}]")
    assert follower.look(world.catalog, plan, 0) is None
    assert follower.look(world.catalog, plan, 0) is None
    (line,) = said
    assert "cannot be followed" in line
    assert "nonsense" in line
    wrong.unlink()
    assert follower.look(world.catalog, plan, 0) is None  # as it was


def test_the_slice_manager_lays_out_the_edges_that_the_engine_cuts_at(tmp_path: Path) -> None:
    plan = world_of(tmp_path, [0, 1, 2, 3]).plan("shared", "two_stacks_block")
    edges = next_edges(plan, watermark=17 * SECOND, count=50)
    cuts = edges_between(union(tree.edges() for tree in plan.trees), 17 * SECOND + 1, edges[-1])
    assert edges == cuts[(cuts > 17 * SECOND) & (cuts <= edges[-1])].tolist()
