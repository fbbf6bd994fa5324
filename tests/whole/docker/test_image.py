"""The Dockerfile by hadolint's rules, and what it copies; the entry point, run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.whole.docker.compose import DOCKER, ROOT

TEXT = (DOCKER / "Dockerfile").read_text()


def test_hadolint() -> None:
    hadolint = Path(sys.executable).parent / "hadolint"
    done = subprocess.run([str(hadolint), str(DOCKER / "Dockerfile")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_its_syntax_is_named_where_it_counts() -> None:
    assert TEXT.startswith("# syntax=")  # after any other line it is a comment


def test_it_ends_as_a_user_without_rights() -> None:
    users = re.findall(r"^USER (\S+)", TEXT, re.M)
    assert users == ["10001:10001"]


def test_every_base_and_the_installer_are_pinned() -> None:
    bases = re.findall(r"^FROM (\S+)", TEXT, re.M)
    assert len(set(bases)) == 1
    assert re.fullmatch(r"python:3\.11\.\d+-slim-bookworm", bases[0])
    installer = re.search(r"^UV_VERSION := (\S+)", (ROOT / "Makefile").read_text(), re.M)
    assert installer
    assert f"uv=={installer[1]}" in TEXT


def test_the_lock_is_what_is_installed_and_the_kernels_are_warm() -> None:
    assert "pip sync" in TEXT
    assert "requirements.txt" in TEXT
    assert re.search(r"^ && heddle warm$", TEXT, re.M)
    asked = (ROOT / "requirements.in").read_text().splitlines()
    assert {"psycopg2-binary", "asyncpg"} <= set(asked)  # Airflow on Postgres


def test_what_goes_into_the_image_exists() -> None:
    lines = (DOCKER / "Dockerfile.dockerignore").read_text().splitlines()
    assert lines[0] == "*"  # nothing but what is named
    assert all((ROOT / line[1:]).exists() for line in lines if line.startswith("!"))
    assert "docker/.env" in lines


def test_the_entry_point_hands_the_password_to_airflow(tmp_path: Path) -> None:
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "AIRFLOW_HOME": str(tmp_path),
        "HEDDLE_ADMIN_PASSWORD": 'a "b" \\ c',
    }
    done = subprocess.run([str(DOCKER / "entrypoint.sh"), "env"], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "passwords.json").read_text()) == {"admin": 'a "b" \\ c'}
    assert (tmp_path / "passwords.json").stat().st_mode & 0o777 == 0o600
    assert f"AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE={tmp_path}/passwords.json" in done.stdout
    assert "HEDDLE_ADMIN_PASSWORD" not in done.stdout  # not handed on to tasks


def test_the_entry_point_without_a_password_only_becomes_the_command(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "AIRFLOW_HOME": str(tmp_path)}
    done = subprocess.run(
        [str(DOCKER / "entrypoint.sh"), "echo", "a  b"], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "a  b\n")
    assert not list(tmp_path.iterdir())
