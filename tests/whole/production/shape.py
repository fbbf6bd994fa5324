"""The services of docker/compose.yaml as processes: its own commands, environments and health checks, on free ports."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from jobs.spark.session import prepare_environment
from tests.whole.docker.compose import DOCKER, ROOT, SERVICES, asked_for, environment
from tests.whole.production.postgres import postgres

LOOPBACK = "127.0.0.1"
PORTS = {
    "postgres": (5432,),
    "api-server": (8080,),
    "spark-master": (7077, 8080),
    "spark-worker": (8081,),
    "mlflow": (5000,),
}
PATIENCE = 150  # seconds
SMALLER = {"--host": LOOPBACK, "--cores": "1", "--memory": "1g"}  # what the test's machine has
LIGHT = {
    "AIRFLOW__CORE__PARALLELISM": "4",
    "AIRFLOW__API__WORKERS": "1",
    "AIRFLOW__SCHEDULER__SCHEDULER_HEARTBEAT_SEC": "1",
    "AIRFLOW__TRIGGERER__CAPACITY": "10",
}


@dataclass
class Shape:
    """The running services and where they listen."""

    folder: Path
    secrets: dict[str, str]
    ports: dict[tuple[str, int], int]
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def url(self, service: str, port: int) -> str:
        """Where a service listens."""
        return f"http://{LOOPBACK}:{self.ports[service, port]}"

    def here(self, service: str, text: str) -> str:
        """A word of the compose file, as it reads without containers."""
        for (name, port), free in self.ports.items():
            text = text.replace(f"{name}:{port}", f"{LOOPBACK}:{free}")
            if name == service:
                text = str(free) if text == str(port) else text.replace(f"{LOOPBACK}:{port}", f"{LOOPBACK}:{free}")
        text = text.replace("@postgres/", f"@{LOOPBACK}:{self.ports['postgres', 5432]}/")
        return text.replace("docker/", f"{DOCKER}/").replace("/data", str(self.folder / "data"))

    def environment(self, service: str) -> dict[str, str]:
        """What the image and the compose file put into a service's environment."""
        said = {name: self.here(service, text) for name, text in environment(service, self.secrets).items()}
        said |= {name: LOOPBACK for name, text in said.items() if text == SERVICES[service].get("hostname")}
        image = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PYSPARK_PYTHON": sys.executable,
            "AIRFLOW_HOME": str(self.folder / "airflow"),
            "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"),
            "AIRFLOW__CORE__PLUGINS_FOLDER": str(ROOT / "plugins"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
        }
        return {**os.environ, **LIGHT, **image, **said}

    def command(self, service: str) -> list[str]:
        """What the container would run."""
        words = [self.here(service, word) for word in SERVICES[service]["command"]]
        bound = [SMALLER.get(before, word) for before, word in pairwise(["", *words])]
        return [str(DOCKER / "entrypoint.sh"), *bound]

    def start(self, service: str, name: str = "") -> None:
        """Start a service in a process group of its own."""
        with (self.folder / f"{name or service}.log").open("wb") as log:
            self.running[name or service] = subprocess.Popen(
                self.command(service), env=self.environment(service), cwd=self.folder, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def run(self, service: str) -> None:
        """Run a service that ends by itself."""
        done = subprocess.run(self.command(service), env=self.environment(service), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]

    def healthy(self, service: str) -> bool:
        """What the compose file's own health check says."""
        check = [self.here(service, word) for word in SERVICES[service]["healthcheck"]["test"][1:]]
        return subprocess.run(check, env=self.environment(service), capture_output=True).returncode == 0

    def wait_for(self, *services: str) -> None:
        """Until every one of them is healthy."""
        end = time.monotonic() + PATIENCE
        for service in services:
            while not self.healthy(service):
                assert self.running[service].poll() is None, f"{service} ended: {self.log(service)}"
                assert time.monotonic() < end, f"{service} is not healthy: {self.log(service)}"
                time.sleep(0.5)

    def log(self, name: str) -> str:
        """The end of what a service said."""
        return (self.folder / f"{name}.log").read_text(errors="replace")[-3000:]

    def stop(self) -> None:
        """End everything, and what it started."""
        for how, patience in ((signal.SIGTERM, 10), (signal.SIGKILL, 10)):
            for process in self.running.values():
                _signal_group(process, how)
            for process in self.running.values():
                _wait(process, patience)


@contextmanager
def production(folder: Path) -> Iterator[Shape]:
    """The whole shape, up and healthy."""
    prepare_environment()
    ports = {(name, port): _free_port() for name, each in PORTS.items() for port in each}
    shape = Shape(folder, {name: f"{name.lower()}-of-a-test" for name in asked_for()}, ports)
    shape.secrets["AIRFLOW_FERNET_KEY"] = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
    shape.secrets["AIRFLOW_URL"] = shape.url("api-server", 8080)
    for name in ("data", "airflow"):
        (folder / name).mkdir(exist_ok=True)
    with ExitStack() as stack:
        superuser = postgres(ports["postgres", 5432], shape.secrets["POSTGRES_PASSWORD"])
        reached = stack.enter_context(superuser)
        script = str(DOCKER / "postgres" / "databases.sh")
        subprocess.run(["sh", script], env={**os.environ, **shape.secrets, **reached}, check=True, capture_output=True)
        stack.callback(shape.stop)
        shape.start("mlflow")
        shape.start("spark-master")
        shape.run("migrate")
        for service in ("api-server", "scheduler", "dag-processor", "triggerer"):
            shape.start(service)
        for worker in range(SERVICES["spark-worker"]["deploy"]["replicas"]):
            shape.start("spark-worker", f"spark-worker-{worker}")
            shape.ports["spark-worker", 8081] = _free_port()
        shape.wait_for("mlflow", "spark-master", "api-server", "scheduler", "dag-processor", "triggerer")
        yield shape


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _signal_group(process: subprocess.Popen[bytes], how: signal.Signals) -> None:
    try:
        os.killpg(process.pid, how)
    except ProcessLookupError:
        return


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return
