"""One Airflow for all DAG tests, with a home of its own and a small stream to work on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heddle.airflow import Airflow, start
from jobs.settings import Settings
from tests.tracking.world import home

SMALL = {
    "SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1",
    "AIRFLOW_CONN_SPARK_DEFAULT": '{"conn_type": "spark", "host": "local[2]", "extra": {"deploy-mode": "client"}}',
}


def write_events(place: Settings, number: int) -> None:
    """A minute of readings, as one more file."""
    random = np.random.default_rng(number)
    times = (np.arange(600) + 600 * number) * 100_000
    table = pa.table(
        {
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "machine": [f"m{key}" for key in random.integers(0, 3, 600)],
            "x": random.integers(0, 100, 600).astype(np.float64),
        }
    )
    pq.write_table(table, Path(place.home, "data", f"part-{number:03d}.parquet"))


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
    found = start(Path(place.home), SMALL)
    yield found
    found.close()
