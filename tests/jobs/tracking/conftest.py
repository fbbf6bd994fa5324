"""Making MLflow's database takes longer than any test: it is made once and copied."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from jobs.host.settings import Settings
from jobs.tracking.store import Store, open_store
from tests.worlds.platform import home


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tracking database that nobody has used."""
    place = home(tmp_path_factory.mktemp("empty"))
    open_store(place).client.search_experiments()
    return Path(place.tracking.removeprefix("sqlite:///"))


@pytest.fixture
def place(empty_database: Path, tmp_path: Path) -> Settings:
    """A platform of its own for a test."""
    found = home(tmp_path)
    database = Path(found.tracking.removeprefix("sqlite:///"))
    database.parent.mkdir(parents=True)
    shutil.copy(empty_database, database)
    return found


@pytest.fixture
def store(place: Settings) -> Store:
    """Its tracking store."""
    return open_store(place)
