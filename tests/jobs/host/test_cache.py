"""The folder of compiled kernels is private, and named after every file that holds compiled code."""

import re
from pathlib import Path

import pytest

import jobs
from jobs.host.cache import cache_folder, compiled_files

ROOT = Path(jobs.__file__).parents[1]
PRODUCT = ("jobs", "optimizer", "expectations", "plugins", "dags", "heddle")


def test_every_file_with_jitted_code_names_the_folder() -> None:
    files = [path for folder in PRODUCT for path in (ROOT / folder).rglob("*.py")]
    jitted = {path for path in files if re.search(r"import njit|numba\.njit", path.read_text(encoding="utf-8"))}
    assert ROOT / "optimizer/strategies/search/subset_dp.py" in jitted
    assert jitted <= set(compiled_files())


def test_nobody_else_may_write_what_is_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "open to all"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("HEDDLE_CACHE", str(folder))
    assert cache_folder() == folder
    assert folder.stat().st_mode & 0o777 == 0o700
