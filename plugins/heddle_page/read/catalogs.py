"""The catalog, read again only when its files have changed."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from jobs.host.settings import Settings
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import catalog_files, load_catalog
from optimizer.errors import HeddleError

Stamp = tuple[tuple[str, int, int], ...]


def catalog_of(settings: Settings) -> tuple[Catalog | None, list[str]]:
    """Return the catalog, or the first lines that say why there is none."""
    try:
        return _load(settings.catalog, _stamp(settings.catalog)), []
    except (HeddleError, OSError) as error:
        return None, str(error).splitlines()[:3]


def streams_of(settings: Settings, catalog: Catalog | None) -> list[str]:
    """Return the catalog's streams; without one, those that have a folder in the warehouse."""
    if catalog is not None:
        return sorted(catalog.streams)
    folder = Path(settings.warehouse)
    return sorted(path.parent.name for path in folder.glob("*/manifests")) if folder.is_dir() else []


def _stamp(folder: str) -> Stamp:
    states = [(path.name, path.stat()) for path in catalog_files(Path(folder))]
    return tuple((name, state.st_mtime_ns, state.st_size) for name, state in states)


@lru_cache(maxsize=2)
def _load(folder: str, stamp: Stamp) -> Catalog:
    return load_catalog(folder)
