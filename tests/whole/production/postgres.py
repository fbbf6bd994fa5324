"""A Postgres server of Debian's package, for one test: its own data folder, its own port."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.whole.debian import program

OWNER = "postgres"
SERVER = "/usr/lib/postgresql/*/bin/postgres"


@dataclass(frozen=True)
class Cluster:
    """A cluster of databases in a folder of its own, which can be stopped and started again."""

    binaries: Path
    data: Path
    port: int
    password: str

    @property
    def reached(self) -> dict[str, str]:
        """What psql needs to be its superuser."""
        return {
            "PGHOST": "127.0.0.1", "PGPORT": str(self.port), "PGPASSWORD": self.password, "POSTGRES_USER": OWNER,
        }  # fmt: skip

    @property
    def url(self) -> str:
        """Its address, as SQLAlchemy spells it."""
        return f"postgresql://{OWNER}:{self.password}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.data} -c fsync=off"
        self._control("-l", str(self.data / "log"), "-o", options, "start")

    def stop(self) -> None:
        """Stop the server at once, as if it had died: whoever is connected is cut off."""
        self._control("-m", "immediate", "stop")

    def _control(self, *words: str) -> None:
        _as_owner([str(self.binaries / "pg_ctl"), "-D", str(self.data), "-w", *words])


@contextmanager
def cluster(port: int, password: str) -> Iterator[Cluster]:
    """A running cluster; root may not start it, and owns the folders of pytest."""
    binaries = Path(program(SERVER, "postgresql")).parent
    with tempfile.TemporaryDirectory() as folder:
        data, secret = Path(folder, "data"), Path(folder, "superuser")
        data.mkdir(mode=0o700)
        secret.write_text(password)
        for place in (Path(folder), data, secret):
            shutil.chown(place, _owner())
        known = ["--auth", "scram-sha-256", "--pwfile", str(secret)]
        _as_owner([str(binaries / "initdb"), "-D", str(data), "-U", OWNER, "--no-sync", *known])
        server = Cluster(binaries, data, port, password)
        server.start()
        try:
            yield server
        finally:
            if (data / "postmaster.pid").exists():
                server.stop()


@contextmanager
def postgres(port: int, password: str) -> Iterator[dict[str, str]]:
    """What psql needs to be the superuser of a cluster, while it is up."""
    with cluster(port, password) as server:
        yield server.reached


def _owner() -> str:
    return OWNER if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name


def _as_owner(command: list[str]) -> None:
    done = subprocess.run(command, user=_owner(), cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
