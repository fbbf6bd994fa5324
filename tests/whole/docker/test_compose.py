"""The compose file, checked by its schema and by the rules of a production shape; no Docker engine is needed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.whole.docker.compose import COMPOSE, DOCKER, ROOT, SERVICES, TEXT, asked_for

OURS = [name for name, service in SERVICES.items() if "build" in service]
SHAPE = {
    "postgres", "migrate", "api-server", "scheduler", "dag-processor", "triggerer",
    "spark-master", "spark-worker", "mlflow",
}  # fmt: skip


def test_schema() -> None:
    schema = ["--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", *schema, str(DOCKER / "compose.yaml")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_the_shape_is_whole() -> None:
    assert set(SERVICES) == SHAPE
    assert SERVICES["spark-worker"]["deploy"]["replicas"] == 2


@pytest.mark.parametrize("name", sorted(SHAPE - {"migrate"}))
def test_every_service_has_a_health_check_and_comes_back(name: str) -> None:
    service = SERVICES[name]
    assert service["restart"] == "unless-stopped"
    assert service["healthcheck"]["test"][0] == "CMD"
    assert {"interval", "timeout", "retries", "start_period"} <= service["healthcheck"].keys()


@pytest.mark.parametrize("name", OURS)
def test_no_service_may_gain_rights(name: str) -> None:
    assert SERVICES[name]["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in SERVICES[name]["security_opt"]
    assert "privileged" not in SERVICES[name]
    assert "data:/data" in SERVICES[name]["volumes"]


def test_images_are_pinned() -> None:
    for service in SERVICES.values():
        assert re.fullmatch(r"[a-z/]+:\d+\.\d+[\w.-]*", service["image"]), service["image"]


def test_the_image_has_the_version_of_the_package() -> None:
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.M)
    assert version
    assert {SERVICES[name]["image"] for name in OURS} == {f"heddle:{version[1]}"}


def test_ports_are_published_on_this_host_alone() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_secrets_come_from_the_environment_and_are_made_by_the_script() -> None:
    made = subprocess.run(["sh", str(DOCKER / "secrets.sh")], capture_output=True, text=True, check=True).stdout
    lines = dict(line.split("=", 1) for line in made.splitlines())
    assert lines.keys() == asked_for()
    assert all(len(value) >= 24 and re.fullmatch(r"[\w=-]+", value) for value in lines.values())
    for line in TEXT.splitlines():
        if re.search(r"^\s+\w*(PASSWORD|SECRET|FERNET)\w*:", line):
            assert "${" in line, line


def test_two_runs_of_the_script_share_no_secret() -> None:
    runs = [subprocess.run(["sh", str(DOCKER / "secrets.sh")], capture_output=True, text=True).stdout for _ in "ab"]
    assert not set(runs[0].splitlines()) & set(runs[1].splitlines())


def test_the_fernet_key_is_one() -> None:
    from cryptography.fernet import Fernet

    made = subprocess.run(["sh", str(DOCKER / "secrets.sh")], capture_output=True, text=True, check=True).stdout
    key = next(line.split("=", 1)[1] for line in made.splitlines() if line.startswith("AIRFLOW_FERNET_KEY"))
    assert Fernet(key.encode())


def test_mounted_and_named_paths_exist() -> None:
    mounts = [volume.split(":")[0] for service in SERVICES.values() for volume in service["volumes"]]
    assert all((DOCKER / mount).exists() for mount in mounts if mount.startswith("."))
    assert {mount for mount in mounts if not mount.startswith(".")} == COMPOSE["volumes"].keys()
    build = SERVICES["scheduler"]["build"]
    context = (DOCKER / build["context"]).resolve()
    assert (context / build["dockerfile"]).is_file()
    for service in SERVICES.values():
        for word in service["healthcheck"].get("test", []):
            assert not word.endswith(".py") or (context / word).is_file()


def test_services_depend_on_services() -> None:
    for service in SERVICES.values():
        assert set(service.get("depends_on", {})) <= SERVICES.keys()


@pytest.mark.parametrize("script", sorted(DOCKER.rglob("*.sh")), ids=lambda path: path.name)
def test_scripts_are_shell_and_may_be_run(script: Path) -> None:
    assert subprocess.run(["sh", "-n", str(script)]).returncode == 0
    assert script.stat().st_mode & 0o111
