"""A standalone Spark cluster on this machine: a master and two workers of one core each."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from jobs.spark.session import prepare_environment

SPARK = Path(pyspark.__file__).parent
DEPLOY = "org.apache.spark.deploy"
PATIENCE = 120  # seconds
LOOPBACK = "127.0.0.1"


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[str]:
    """The master's URL, while the cluster is up."""
    prepare_environment()
    port = _free_port()
    url = f"spark://{LOOPBACK}:{port}"
    started = [_start(folder, f"{DEPLOY}.master.Master", "--port", str(port))]
    try:
        _wait_for(port, started[0])
        for number in range(workers):
            limits = ("-c", "1", "-m", "1g", "-d", str(folder / f"worker_{number}"))
            started.append(_start(folder, f"{DEPLOY}.worker.Worker", *limits, url))
        yield url
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait()


def submit(url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """spark-submit, as users call it."""
    small = [
        "--executor-memory",
        "512m",
        "--conf",
        f"spark.executor.extraJavaOptions={os.environ['SPARK_SUBMIT_OPTS']}",
    ]
    command = [str(SPARK / "bin" / "spark-submit"), "--master", url, *small, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _start(folder: Path, role: str, *arguments: str) -> subprocess.Popen[bytes]:
    command = [str(SPARK / "bin" / "spark-class"), role, "--host", LOOPBACK, "--webui-port", "0", *arguments]
    small = {"SPARK_DAEMON_JAVA_OPTS": os.environ["SPARK_SUBMIT_OPTS"]}
    environment = {**os.environ, **small, "PYSPARK_PYTHON": sys.executable}
    with (folder / f"{role}.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(10 * PATIENCE):
        assert process.poll() is None, "the master ended"
        with socket.socket() as probe:
            if probe.connect_ex((LOOPBACK, port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the master never answered")
