"""Connectors: fetched from a Maven repository once, checked, and nothing half-written when that fails."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heddle.main import app
from jobs.host import connectors
from jobs.host.connectors import CONNECTORS, MIRROR, Jar, install_connector, installed_jars, jar_setting
from optimizer.errors import HeddleError


def serve(folder: Path, content: bytes, monkeypatch: pytest.MonkeyPatch) -> Jar:
    """A repository with one jar, as the mirror, and a connector of that jar."""
    jar = Jar("org.example", "thing", "1.0", hashlib.sha256(b"right").hexdigest())
    file = folder / "mirror" / jar.path
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    monkeypatch.setenv(MIRROR, (folder / "mirror").as_uri())
    monkeypatch.setenv("HEDDLE_CACHE", str(folder / "cache"))
    monkeypatch.setitem(CONNECTORS, "thing", (jar,))
    return jar


def test_a_jar_is_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = serve(tmp_path, b"right", monkeypatch)
    assert installed_jars("thing") == []
    with pytest.raises(HeddleError, match="thing is not installed; run heddle connectors install thing"):
        jar_setting(["thing"])
    said: list[str] = []
    (file,) = install_connector("thing", said.append)
    assert file.read_bytes() == b"right"
    (tmp_path / "mirror" / jar.path).unlink()
    assert install_connector("thing", said.append) == [file]
    assert len(said) == 1
    assert jar_setting(["thing"]) == {"spark.jars": str(file)}
    file.write_bytes(b"wrong")
    with pytest.raises(HeddleError, match="cannot be fetched"):
        install_connector("thing", said.append)


def test_another_file_is_refused_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(tmp_path, b"other", monkeypatch)
    with pytest.raises(HeddleError, match="the checksum is not the one that is pinned"):
        install_connector("thing", print)
    assert list((tmp_path / "cache" / "jars").iterdir()) == []


@pytest.mark.parametrize("mirror", ["http://127.0.0.1:1/maven2", "ftp://example.org"])
def test_a_mirror_that_is_not_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mirror: str) -> None:
    monkeypatch.setenv(MIRROR, mirror)
    with pytest.raises(HeddleError, match=MIRROR):
        install_connector("iceberg", print, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = serve(tmp_path, b"right", monkeypatch)
    run = CliRunner()
    assert "thing-1.0.jar (not installed)" in run.invoke(app, ["connectors", "list"]).output
    assert "thing: 1 jar is there" in run.invoke(app, ["connectors", "install", "thing"]).output
    assert str(connectors.jar_folder() / jar.file) in run.invoke(app, ["connectors", "list"]).output
    wrong = run.invoke(app, ["connectors", "install", "icebreg"]).exception
    assert isinstance(wrong, HeddleError)
    assert "iceberg" in str(wrong)


def test_every_jar_is_pinned() -> None:
    jars = [jar for members in CONNECTORS.values() for jar in members]
    assert {"kafka", "delta", "iceberg", "s3", "hdfs"} == set(CONNECTORS)
    assert all(len(jar.sha256) == 64 and jar.version for jar in jars)
    assert len({jar.file for jar in jars}) == len(jars)
