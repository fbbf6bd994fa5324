"""One platform for all tests of the page: they only read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.world import Lived, lived


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    return lived(Path(tmp_path_factory.mktemp("platform")))
