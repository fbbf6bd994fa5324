"""A Postgres server of Debian's package, for one test: its own data folder, its own port."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.debian import program

OWNER = "postgres"
SERVER = "/usr/lib/postgresql/*/bin/postgres"


@contextmanager
def postgres(folder: Path, port: int, password: str) -> Iterator[dict[str, str]]:
    """What psql needs to be its superuser, while it is up; it refuses to be started by root."""
    binaries = Path(program(SERVER, "postgresql")).parent
    data = folder / "postgres"
    data.mkdir(mode=0o700)
    (folder / "superuser").write_text(password)
    if os.geteuid() == 0:
        shutil.chown(data, OWNER, OWNER)
        shutil.chown(folder / "superuser", OWNER)
        _let_through(folder)
    secret = ["--auth", "scram-sha-256", "--pwfile", str(folder / "superuser")]
    _as_owner([str(binaries / "initdb"), "-D", str(data), "-U", OWNER, "--no-sync", *secret])
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={data} -c fsync=off"
    control = [str(binaries / "pg_ctl"), "-D", str(data), "-w"]
    _as_owner([*control, "-l", str(data / "log"), "-o", options, "start"])
    try:
        yield {"PGHOST": "127.0.0.1", "PGPORT": str(port), "PGPASSWORD": password, "POSTGRES_USER": OWNER}
    finally:
        _as_owner([*control, "-m", "immediate", "stop"])


def _as_owner(command: list[str]) -> None:
    user = OWNER if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    done = subprocess.run(command, user=user, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


def _let_through(folder: Path) -> None:
    """pytest's folders are closed to other users, and Postgres runs as one."""
    for place in (folder, *folder.parents):
        if place.stat().st_uid == os.geteuid() and not place.stat().st_mode & 0o001:
            place.chmod(place.stat().st_mode | 0o011)
