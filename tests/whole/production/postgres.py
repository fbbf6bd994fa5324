"""A Postgres server of Debian's package, for one test: its own data folder, its own port."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.whole.debian import program

OWNER = "postgres"
SERVER = "/usr/lib/postgresql/*/bin/postgres"


@contextmanager
def postgres(port: int, password: str) -> Iterator[dict[str, str]]:
    """What psql needs to be its superuser, while it is up; root may not start it, and owns the folders of pytest."""
    binaries = Path(program(SERVER, "postgresql")).parent
    with tempfile.TemporaryDirectory() as folder:
        data, secret = Path(folder, "data"), Path(folder, "superuser")
        data.mkdir(mode=0o700)
        secret.write_text(password)
        for place in (Path(folder), data, secret):
            shutil.chown(place, _owner())
        known = ["--auth", "scram-sha-256", "--pwfile", str(secret)]
        _as_owner([str(binaries / "initdb"), "-D", str(data), "-U", OWNER, "--no-sync", *known])
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={data} -c fsync=off"
        control = [str(binaries / "pg_ctl"), "-D", str(data), "-w"]
        _as_owner([*control, "-l", str(data / "log"), "-o", options, "start"])
        try:
            yield {"PGHOST": "127.0.0.1", "PGPORT": str(port), "PGPASSWORD": password, "POSTGRES_USER": OWNER}
        finally:
            _as_owner([*control, "-m", "immediate", "stop"])


def _owner() -> str:
    return OWNER if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name


def _as_owner(command: list[str]) -> None:
    done = subprocess.run(command, user=_owner(), cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
