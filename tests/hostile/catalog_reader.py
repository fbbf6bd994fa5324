"""Reads catalogs of any bytes: each is refused in lines that name file and cause, or harmless."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.sql.grammar import FUNCTIONS
from optimizer.errors import CatalogError
from tests.optimizer.catalog.mutations import BASE, HOSTILE, mutate
from tests.optimizer.catalog.test_hostile import assert_harmless, assert_lines

SQL = "SELECT machine, window, {} FROM vibration WHERE {} GROUP BY machine, window(ts, '5 minutes', '30 seconds')"
FOLDER = Path(tempfile.mkdtemp(prefix="heddle_hostile_"))
SPLIT = b"\n%%%\n"  # between the YAML and a query in SQL


def seeds() -> Iterator[bytes]:
    """Yield catalogs to begin with."""
    for number in range(150):
        yield mutate(number).encode("utf-8", "surrogatepass")
    for text in HOSTILE:
        yield BASE.encode() + SPLIT + SQL.format("max(x)", text).encode()
        yield BASE.encode() + SPLIT + SQL.format(text, "x > 1").encode()


def words() -> Iterator[str]:
    """Yield words of the language."""
    yield from (*FUNCTIONS, *HOSTILE)
    yield from (
        "select:",
        "where:",
        "group_by:",
        "having:",
        "alert:",
        "expect:",
        "sinks:",
        "corrections:",
        "zone:",
        "path:",
    )


def take(data: bytes) -> None:
    """Read a catalog."""
    text, _, sql = data.partition(SPLIT)
    folder = FOLDER / "catalog"
    folder.mkdir(exist_ok=True)
    (folder / "catalog.yaml").write_bytes(text)
    (folder / "written.sql").write_bytes(sql or b"SELECT count(*) FROM vibration GROUP BY window(ts, '1 minute')")
    try:
        catalog = load_catalog(folder)
    except CatalogError as error:
        assert_lines(error, 0)
    else:
        assert_harmless(catalog, FOLDER)
