"""One Airflow for all DAG tests, with a home of its own and a small stream to work on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from heddle.processes import Airflow, start_airflow
from jobs.host.settings import Settings
from tests.worlds.platform import home, write_events

SMALL = {
    "SPARK_SUBMIT_OPTS": os.environ["SPARK_SUBMIT_OPTS"],
    "AIRFLOW_CONN_SPARK_DEFAULT": '{"conn_type": "spark", "host": "local[2]", "extra": {"deploy-mode": "client"}}',
}


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A platform with a catalog and two minutes of events."""
    found = home(tmp_path_factory.mktemp("platform"))
    Path(found.home, "data").mkdir()
    for number in range(2):
        write_events(found, number)
    return found


@pytest.fixture(scope="session")
def airflow(place: Settings) -> Iterator[Airflow]:
    """Airflow, ready to run the DAGs."""
    found = start_airflow(Path(place.home), SMALL)
    yield found
    found.close()
