"""One Airflow for all DAG tests, with a home of its own and a small stream to work on."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from heddle.processes import ROOT, Airflow, environment, start_airflow
from jobs.host.settings import Settings
from tests.dags.shared_spark import write_submit
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
def submit(place: Settings) -> Iterator[Path]:
    """What stands for spark-submit in the folder of programs that Airflow looks at first."""
    with tempfile.TemporaryDirectory() as folder:  # a short name: that of a socket has 107 characters at most
        line = Path(folder, "line")
        variables = environment(Path(place.home)) | SMALL
        server = subprocess.Popen([sys.executable, "-m", "tests.dags.shared_spark", str(line)], env=variables, cwd=ROOT)
        yield write_submit(Path(folder), line)
        server.terminate()
        server.wait()


@pytest.fixture(scope="session")
def airflow(place: Settings, submit: Path) -> Iterator[Airflow]:
    """Airflow, ready to run the DAGs."""
    programs = os.pathsep.join([str(submit.parent), environment(Path(place.home))["PATH"]])
    found = start_airflow(Path(place.home), {**SMALL, "PATH": programs})
    yield found
    found.close()
