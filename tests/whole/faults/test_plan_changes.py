"""Plans that change while a stream runs, some of the runs killed: no window is lost, doubled or mixed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from jobs.engine.warehouse.lifecycle import plan_in_force, stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.host.stops import ADOPTION_STEPS, DRIVER_STEPS, TASK_STEPS
from jobs.results import results_table
from jobs.runs.in_process import evaluate_local
from jobs.runs.request import Options
from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError
from optimizer.windows.window import Window
from tests.jobs.engine.oracle_expressions import AGGREGATED, PREDICATES
from tests.jobs.engine.questions import SPARK_ONLY, Question, second_argument
from tests.whole.faults.plan_runs import Changing, write_plan
from tests.worlds.streams import SECOND, Row, odd_row
from tests.worlds.warehouse import STREAM

LATENESS = 2 * SECOND
AGGREGATE_NAMES = [name for name, found in AGGREGATES.items() if found.shared and name not in SPARK_ONLY]
PLAIN = [("sum", "n", ""), ("count", "*", ""), ("max", "s", "")]
QUICK = ("shared", "no_share", "weave_share", "tri_weave")
STEPS = (*DRIVER_STEPS, *TASK_STEPS, *ADOPTION_STEPS, *ADOPTION_STEPS)


def some_batch(pick: random.Random, number: int) -> list[Row]:
    """Half a minute of events, a few of them from long ago, a few without a time."""
    start = number * 30 * SECOND
    times = [start + pick.randrange(30 * SECOND) for _ in range(pick.choice([0, 1, 40]))]
    late = [start - pick.randrange(60 * SECOND) for _ in range(2)]
    rows = [odd_row(time, pick.randrange(1 << 20)) for time in times + late]
    return [*rows, odd_row(None, number)] if number % 3 == 0 else rows


def some_question(pick: random.Random) -> Question:
    """Any query; most from small pools, so that trees of different plans have much in common."""
    name = pick.choice(AGGREGATE_NAMES)
    plain = pick.random() < 0.8
    slide = pick.choice([2, 3, 4, 6, 12]) * SECOND
    window = Window(pick.choice([1, 2, 3, 5]) * slide + pick.choice([0, 0, SECOND]), slide, pick.choice([0, 0, SECOND]))
    if plain:
        return Question(*pick.choice(PLAIN), "", pick.choice([(), ("k",)]), window)
    x = pick.choice(list(AGGREGATED[name]))
    y = second_argument(pick, name)
    where = pick.choice(["", "", "", *PREDICATES])
    return Question(name, x, y, where, pick.choice([(), ("k",), ("k",), ("k", "i")]), window)


def changed(pick: random.Random, asked: dict[str, Question]) -> dict[str, Question]:
    """Queries leave, others join, and some keep their id but ask for something else."""
    kept = {id: question for id, question in asked.items() if pick.random() < 0.7}
    changing = {id: some_question(pick) for id in kept if pick.random() < 0.2}
    joining = {f"q{pick.randrange(12)}": some_question(pick) for _ in range(pick.randrange(1, 4))}
    return {**joining, **kept, **changing}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 6))])
def test_random_plans_and_kills(tmp_path: Path, seed: int) -> None:
    pick = random.Random(seed)
    world = Changing(tmp_path)
    asked, lateness = changed(pick, {}), LATENESS
    history = [(asked, lateness, "shared")]
    for _ in range(6):
        world.arrive(*(some_batch(pick, len(world.batches) + n) for n in range(pick.choice([0, 1, 1, 2]))))
        if pick.random() < 0.2:
            asked, lateness, strategy = pick.choice(history)  # a champion is rolled back
        else:
            asked = changed(pick, asked) if pick.random() < 0.7 else asked
            lateness = pick.choice([lateness, lateness, 0, 5 * SECOND])
            strategy = pick.choice(QUICK)
            history.append((asked, lateness, strategy))
        for step in pick.sample(STEPS, pick.choice([0, 1, 1, 2])):
            world.run_killed(asked, lateness, strategy, step)
        world.run(asked, lateness, strategy)
    world.check()
    storage = stream_storage(world.warehouse, STREAM)
    assert plan_in_force(storage, newest(storage)) is not None


def question(name: str, x: str, range: int, slide: int) -> Question:
    return Question(name, x, "", "", ("k",), Window(range * SECOND, slide * SECOND))


def full_batch(number: int) -> list[Row]:
    """Events in every second of half a minute."""
    return [odd_row((number * 30 + second) * SECOND, number * 100 + second) for second in range(30)]


def remove_files(world: Changing, *numbers: int) -> None:
    for number in numbers:
        (world.folder / "data" / f"part-{number:05d}.parquet").unlink()


@pytest.fixture
def world(tmp_path: Path) -> Changing:
    """Three batches, evaluated by one tree with an edge every second."""
    made = Changing(tmp_path)
    made.arrive(*map(full_batch, range(3)))
    made.run({"q": question("sum", "n", 20, 1)}, LATENESS, "shared")
    return made


def test_contained_edges_carry_on_without_the_raw_events(world: Changing) -> None:
    remove_files(world, 0, 1, 2)
    report = world.run({"q": question("sum", "n", 20, 1), "coarse": question("sum", "n", 12, 4)}, LATENESS, "no_share")
    assert "2 trees carry on, 0 are rebuilt" in report.notes[0]
    assert report.notes[1:] == ["query coarse is complete in the windows that end after 1970-01-01 00:01:27Z"]
    world.arrive(full_batch(3))
    world.run({"coarse": question("sum", "n", 12, 4)}, LATENESS, "shared")
    world.check()


def test_finer_edges_are_rebuilt_from_the_raw_events(world: Changing) -> None:
    asked = {
        "q": question("sum", "n", 20, 1),
        "fine": Question("sum", "n", "", "", ("k",), Window(SECOND, SECOND // 4)),
    }
    report = world.run(asked, LATENESS, "shared")
    assert "0 trees carry on, 1 is rebuilt from" in report.notes[0]
    world.arrive(full_batch(3))
    world.run(asked, LATENESS, "shared")
    world.check()


def test_a_query_that_the_raw_events_do_not_reach_back_for(world: Changing) -> None:
    """Its windows are left out until all of their events are there; then it is like any other."""
    remove_files(world, 0)
    asked = {"q": question("sum", "n", 20, 1), "long": question("max", "s", 80, 10)}
    report = world.run(asked, LATENESS, "no_share")
    assert report.notes[-1] == (
        "query long is complete in the windows that end after 1970-01-01 00:01:49Z; "
        "the raw events of those before it are gone"
    )
    world.arrive(*map(full_batch, range(3, 6)))
    world.run(asked, LATENESS, "no_share")
    name = next(name for name in world.expected if name.startswith("long"))
    question_asked, places = world.expected[name]
    assert {start for _, start in places} > {start for _, start in places if start > 29 * SECOND} != set()
    world.expected[name] = question_asked, {place: rows for place, rows in places.items() if place[1] > 29 * SECOND}
    world.check()


def test_a_plan_that_would_lose_windows_is_refused(world: Changing) -> None:
    remove_files(world, 2)
    before = world.manifest
    finer = {
        "q": question("sum", "n", 20, 1),
        "fine": Question("sum", "n", "", "", ("k",), Window(SECOND, SECOND // 4)),
    }
    with pytest.raises(HeddleError, match=r"query q: the new plan has to read its events again, and files .* are gone"):
        world.run(finer, LATENESS, "shared")
    assert world.manifest == before
    world.arrive(full_batch(3))
    world.run({"q": question("sum", "n", 20, 1)}, LATENESS, "shared")
    world.check()


IN_ROWS = [
    {"id": "short", "stream": STREAM, "select": "sum(n)", "group_by": ["k"], "range": "7 rows", "slide": "2 rows"},
    {"id": "long", "stream": STREAM, "select": "max(s)", "group_by": ["k"], "range": "20 rows", "slide": "3 rows"},
]


def test_windows_in_rows_are_counted_from_the_first_event(tmp_path: Path) -> None:
    """A query that joins has the rows that one has which was there from the beginning; late events have no number."""
    pick = random.Random(5)
    world = Changing(tmp_path)
    world.arrive(*(some_batch(pick, number) for number in range(4)))

    def evaluate(queries: list[dict[str, object]], warehouse: str) -> list[dict[str, object]]:
        catalog, plan = write_plan(tmp_path, queries, LATENESS, "shared")
        evaluate_local(catalog, plan, str(tmp_path / warehouse), Options(files_per_batch=1, buckets=2))
        return [row for id in ("long", "short") if id in catalog.rows for row in rows_of(catalog, warehouse, id)]

    def rows_of(catalog: Catalog, warehouse: str, id: str) -> list[dict[str, object]]:
        return [{"id": id, **row} for row in results_table(str(tmp_path / warehouse), catalog, id).to_pylist()]

    before = evaluate(IN_ROWS, "both")
    evaluate(IN_ROWS[:1], "joined")
    world.arrive(*(some_batch(pick, number) for number in range(4, 8)))
    after = evaluate(IN_ROWS, "both")
    found = evaluate(IN_ROWS, "joined")
    assert found == [row for row in after if row["id"] == "short" or row not in before] != after
