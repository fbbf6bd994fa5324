"""One platform for all tests of the page: they only read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.worlds.busy_platform import BusyPlatform, make_busy_platform


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> BusyPlatform:
    return make_busy_platform(Path(tmp_path_factory.mktemp("platform")))
