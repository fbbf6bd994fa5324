"""`heddle ui` on a small platform of its own, as `make ui` starts it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from heddle.processes import ROOT
from tests.worlds.busy_platform import make_busy_platform

CATALOG = """
streams:
  sensors: {source: {format: parquet, path: sensors}, time: ts, lateness: 5 seconds}
queries:
  - {id: peak_1m, stream: sensors, select: max(energy_1), group_by: [machine], range: 1 minute, slide: 10 seconds}
  - {id: peak_5m, stream: sensors, select: max(energy_1), group_by: [machine], range: 5 minutes, slide: 30 seconds}
  - {id: count_2m, stream: sensors, select: count(*), range: 2 minutes, slide: 20 seconds}
"""
ONE_MORE = """
queries:
  - {id: peak_10m, stream: sensors, select: max(energy_1), group_by: [machine], range: 10 minutes, slide: 1 minute}
"""
READY = "Ctrl-C stops both"
CALM = {"AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "600"}  # seconds: the files do not change meanwhile
GUIDE = ROOT / "docs" / "airflow.md"
OTHERS = "AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST"
TELL_HOURS = """
from airflow.sdk import dag, task

from dags.assets import announce_hours


@dag(schedule=None)
def tell_hours():
    @task
    def publish(ti, outlet_events):
        announce_hours("sensors", ["2026-01-01T09:00:00"], ti.task, outlet_events)

    publish()


tell_hours()
"""


@dataclass(frozen=True)
class Interface:
    """Where Airflow is, and who may enter."""

    airflow: str
    mlflow: str
    user: str
    password: str


@contextmanager
def interface(home: Path) -> Iterator[Interface]:
    """Airflow and MLflow while they are up; Ctrl-C ends them, and nothing is left."""
    _fill(home)
    command = [sys.executable, "-m", "heddle", "ui", "--home", str(home)]
    variables = {**os.environ, **CALM, **_dags_of_others(home / "others")}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=variables)
    assert process.stdout
    said = ""
    try:
        while READY not in said:
            line = process.stdout.readline()
            assert line, f"heddle ui has ended: {said}"
            said += line
        found = re.search(r"Airflow\s+(\S+)\s+user (\S+), password (\S+)\n.*\nMLflow's runs (\S+?)/#", said)
        assert found, said
        yield Interface(found[1], found[4], found[2], found[3])
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert not _left(home), _left(home)


def _dags_of_others(folder: Path) -> dict[str, str]:
    """Lay the DAGs that the guide shows into a folder, and one that tells of hours; name it beside Heddle's own."""
    folder.mkdir()
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.M | re.S)[:2]):
        (folder / f"guide_{number}.py").write_text(block)
    (folder / "tell_hours.py").write_text(TELL_HOURS)
    places = {"heddle": ROOT / "dags", "others": folder}
    local = "airflow.dag_processing.bundles.local.LocalDagBundle"
    bundles = [{"name": name, "classpath": local, "kwargs": {"path": str(path)}} for name, path in places.items()]
    return {OTHERS: json.dumps(bundles)}


def _fill(home: Path) -> None:
    """One stream that has run for a while, and one that nobody has planned yet."""
    home.mkdir()
    make_busy_platform(home)
    (home / "catalog" / "sensors.yaml").write_text(CATALOG)
    events = ["generate", "sensors", "--events", "20000", "--rate", "100", "--out", str(home / "sensors")]
    subprocess.run([sys.executable, "-m", "heddle", *events], check=True, capture_output=True)


def _left(home: Path) -> list[str]:
    """Processes that still have this platform in their environment."""
    mark = f"HEDDLE_HOME={home}".encode()
    left = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                left.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return left
