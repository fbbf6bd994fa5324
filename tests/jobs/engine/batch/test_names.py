"""No name of a user's ever meets one of the engine's: whatever columns are called, the answers are the same."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from jobs.results import late_table, results_table
from jobs.runs.in_process import evaluate_local
from jobs.runs.request import Options
from tests.jobs.engine.shard_plans import forced
from tests.worlds.names import CALLED_LIKE_OTHERS, COLUMNS, ODD_NAMES, named_world
from tests.worlds.warehouse import STREAM, World


def deal(seed: int) -> Iterator[dict[str, str]]:
    """Yield names for all columns, until every odd name has been one."""
    shuffled = random.Random(seed).sample(ODD_NAMES, len(ODD_NAMES))
    for first in range(0, len(shuffled), len(COLUMNS)):
        yield dict(zip(COLUMNS, shuffled[first : first + len(COLUMNS)], strict=False))


NAMES = [*CALLED_LIKE_OTHERS, *deal(1)]


def answers(world: World, warehouse: str = "warehouse") -> dict[str, Any]:
    """The answers to every statement, columns by place, and how many windows missed events."""
    place = str(world.folder / warehouse)
    tables = {id: results_table(place, world.catalog, id) for id in world.catalog.statements}
    missed = late_table(place, STREAM)["windows_missed"].to_pylist()
    return {id: [column.to_pylist() for column in table.columns] for id, table in tables.items()} | {"late": missed}


def evaluate(world: World) -> dict[str, Any]:
    """Evaluate all files, each a batch."""
    plan = forced(world.plan("shared"))
    evaluate_local(world.catalog, plan, str(world.folder / "warehouse"), Options("auto", 1, buckets=2))
    return answers(world)


def evaluate_by_two_plans(world: World) -> dict[str, Any]:
    """Evaluate the first file by one plan, the others by one that takes over."""
    warehouse, later = str(world.folder / "warehouse"), world.files[1:]
    for file in later:
        file.rename(world.folder / file.name)
    evaluate_local(world.catalog, forced(world.plan("shared")), warehouse, Options("auto", 1, buckets=2))
    for file in later:
        (world.folder / file.name).rename(file)
    evaluate_local(world.catalog, world.plan("no_share"), warehouse, Options("auto", 1, buckets=2))
    return answers(world)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    found = evaluate(named_world(tmp_path_factory.mktemp("plain"), {}))
    assert all(len(rows[0]) > 5 for id, rows in found.items() if id != "late")
    assert sum(found["late"]) > 5
    return found


@pytest.mark.parametrize("names", NAMES, ids=map(str, range(len(NAMES))))
def test_any_names(tmp_path: Path, expected: dict[str, Any], names: Mapping[str, str]) -> None:
    world = named_world(tmp_path, names)
    assert evaluate(world) == expected
    key = names.get("k", "k")
    assert results_table(str(tmp_path / "warehouse"), world.catalog, "filtered").column_names[0] == key


@pytest.mark.parametrize("names", CALLED_LIKE_OTHERS[2:4], ids=["joined", "internal"])
def test_a_plan_takes_over_slices_of_any_names(tmp_path: Path, names: Mapping[str, str]) -> None:
    found = evaluate_by_two_plans(named_world(tmp_path / "odd", names))
    assert found == evaluate_by_two_plans(named_world(tmp_path / "plain", {}))


def test_every_odd_name_is_tried_and_no_two_are_one_to_spark() -> None:
    assert {name for names in NAMES for name in names.values()} >= {*ODD_NAMES}
    assert len({name.lower() for name in ODD_NAMES}) == len(ODD_NAMES)
