"""Settings: defaults below one home, and no path outside the roots."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.host.settings import settings
from optimizer.errors import HeddleError


def test_everything_is_below_the_home(tmp_path: Path) -> None:
    found = settings({"HEDDLE_HOME": str(tmp_path)})
    assert found.catalog == str(tmp_path / "catalog")
    assert found.tracking == f"sqlite:///{tmp_path}/tracking/mlflow.db"
    assert found.below("plans", "a.json").parent.is_dir()


def test_a_path_outside_the_roots_is_refused(tmp_path: Path) -> None:
    found = settings({"HEDDLE_HOME": str(tmp_path / "home")})
    for path in (str(tmp_path / "other"), str(tmp_path / "home" / ".." / "other"), "/etc"):
        with pytest.raises(HeddleError, match="is outside"):
            found.inside(path)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "link").symlink_to("/etc")
    with pytest.raises(HeddleError, match="is outside"):
        found.below("link", "passwd")
    with pytest.raises(HeddleError, match="without"):
        found.inside("s3a://bucket/../other")
    assert found.inside("s3a://bucket/x") == "s3a://bucket/x"


def test_configured_roots_hold_for_the_configured_places_too(tmp_path: Path) -> None:
    environment = {"HEDDLE_HOME": str(tmp_path / "a"), "HEDDLE_ROOTS": str(tmp_path / "b")}
    with pytest.raises(HeddleError, match="HEDDLE_ROOTS"):
        settings(environment)
    assert settings({**environment, "HEDDLE_ROOTS": str(tmp_path)}).home == str(tmp_path / "a")


def test_a_server_needs_no_artifact_folder(tmp_path: Path) -> None:
    found = settings({"HEDDLE_HOME": str(tmp_path), "HEDDLE_TRACKING": "http://mlflow:5000"})
    assert found.tracking == "http://mlflow:5000"
