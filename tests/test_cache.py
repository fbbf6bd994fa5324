"""The folder of compiled kernels is named after every file that holds compiled code."""

from pathlib import Path

import jobs
from jobs.cache import COMPILED

ROOM = Path(jobs.__file__).parent


def test_every_file_with_jitted_code_names_the_folder() -> None:
    named = {path for pattern in COMPILED for path in ROOM.glob(pattern)}
    jitted = {path for path in ROOM.rglob("*.py") if "import njit" in path.read_text(encoding="utf-8")}
    assert jitted
    assert jitted <= named
