"""The folder of compiled kernels is private, and named after every file that holds compiled code."""

from pathlib import Path

import pytest

import jobs
from jobs.host.cache import COMPILED, cache_folder

ROOM = Path(jobs.__file__).parent


def test_every_file_with_jitted_code_names_the_folder() -> None:
    named = {path for pattern in COMPILED for path in ROOM.glob(pattern)}
    jitted = {path for path in ROOM.rglob("*.py") if "import njit" in path.read_text(encoding="utf-8")}
    assert jitted
    assert jitted <= named


def test_nobody_else_may_write_what_is_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "open to all"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("HEDDLE_CACHE", str(folder))
    assert cache_folder() == folder
    assert folder.stat().st_mode & 0o777 == 0o700
