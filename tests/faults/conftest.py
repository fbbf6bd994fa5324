"""One world for all faults: two files evaluated, two more waiting, and what an undisturbed run makes of them."""

from __future__ import annotations

import pytest

from tests.faults import local_runs
from tests.faults.world import World, make_world


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The warehouses `base` and `reference` hold the runs without Spark."""
    made = make_world(tmp_path_factory.mktemp("faults"))
    made.arrive(0, 1, 2)
    local_runs.evaluate(made, made.warehouse("base"))
    made.arrive(3, 4)
    local_runs.evaluate(made, made.copy("base", "reference"))
    return made
