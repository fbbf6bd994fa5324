"""A catalog folder -> Catalog, or every problem of it at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.bulk import read_bulk
from optimizer.catalog.read.draft import Draft
from optimizer.catalog.read.entries import add_sql, add_yaml
from optimizer.errors import CatalogError, Problem, show

READERS: dict[str, Callable[[Draft, Path], None]] = {
    ".yaml": add_yaml,
    ".yml": add_yaml,
    ".sql": add_sql,
    ".parquet": read_bulk,
    ".csv": read_bulk,
}


def load_catalog(path: str | os.PathLike[str]) -> Catalog:
    """Read a catalog folder; raise CatalogError with all its problems, one line each."""
    return read_folder(Path(path)).finish()


def read_folder(folder: Path) -> Draft:
    """Read all files of a catalog folder, without judging them as a whole."""
    draft = Draft(folder)
    for file in catalog_files(folder):
        draft.guard(file, READERS[file.suffix])
    return draft


def catalog_files(folder: Path) -> list[Path]:
    """Return the catalog's files: streams first, since queries name them."""
    try:
        files = [file for file in folder.iterdir() if file.suffix in READERS and not file.name.startswith(".")]
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise CatalogError([Problem(str(folder), 0, "", "", reason, "name a catalog folder")]) from None
    if not files:
        right = f"put {', '.join(READERS)} files into it"
        raise CatalogError([Problem(str(folder), 0, "", "", f"{show(folder.name)} has no catalog files", right)])
    return sorted(files, key=lambda file: (list(READERS).index(file.suffix), file.name))
