"""Airflow in a process of its own, with its own home: DAGs are run for real, without a scheduler."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optimizer.errors import HeddleError

ROOT = Path(__file__).resolve().parents[2]
SPARK = {"conn_type": "spark", "host": "local[*]", "extra": {"deploy-mode": "client"}}


def environment(home: Path) -> dict[str, str]:
    """Return the environment variables that Airflow and the steps need, for a platform with this home."""
    own = {
        "HEDDLE_HOME": str(home),
        "AIRFLOW_HOME": str(home / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW_CONN_SPARK_DEFAULT": os.environ.get("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(SPARK)),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")])),
        "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable),
        "SPARK_LOCAL_IP": os.environ.get("SPARK_LOCAL_IP", "127.0.0.1"),
    }
    return {**os.environ, **own}


@dataclass
class Airflow:
    """A process that runs DAGs on request; its own chatter is in a log file."""

    process: subprocess.Popen[str]
    log: Path
    dags: list[str]

    def run(self, dag: str, conf: dict[str, Any], progress: Callable[[str], None]) -> dict[str, Any]:
        """Run a DAG from its first task to its last; the answer has its state."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"dag": dag, "conf": conf}) + "\n")
        self.process.stdin.flush()
        while True:
            answer = self._answer()
            if "progress" not in answer:
                return answer
            progress(answer["progress"])

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise HeddleError(f"Airflow has ended; {self.log} says why")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def start(home: Path, extra: dict[str, str] | None = None) -> Airflow:
    """Start Airflow with its home below the platform's."""
    log = home / "airflow" / "runs.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as sink:
        process = subprocess.Popen(
            [sys.executable, "-m", "dags.local_runs"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=sink,
            text=True,
            env={**environment(home), **(extra or {})},
            cwd=home,
        )
    airflow = Airflow(process, log, [])
    hello = airflow._answer()
    if hello["errors"]:
        raise HeddleError(f"Airflow cannot read the DAGs; {log} says why")
    airflow.dags = hello["dags"]
    return airflow
