"""The tables of sources: every format has its line in each, and every module its use."""

from __future__ import annotations

import sys
from pathlib import Path

from jobs.engine.sources import SOURCES
from optimizer.catalog.model.query import TABLE_FORMATS
from optimizer.catalog.read.source_options import FILE_FORMATS, FORMATS, PLACES

ROOT = Path(__file__).parents[4]


def test_every_format_has_its_line() -> None:
    assert set(SOURCES) == set(FORMATS), "SOURCES of jobs/engine/sources and OPTIONS of source_options.py differ"
    with_log = [name for name, source in SOURCES.items() if source.list_snapshots]
    assert set(with_log) == set(TABLE_FORMATS), "TABLE_FORMATS of optimizer/catalog/model/query.py differs"
    assert {*FILE_FORMATS, *TABLE_FORMATS, "table"} == set(FORMATS)  # Spark itself lists a table of its catalog
    assert PLACES.keys() <= SOURCES.keys()


def test_every_module_is_in_the_table() -> None:
    folder = Path(sys.modules["jobs.engine.sources"].__file__ or "").parent
    shared = {"__init__", "contract", "messages"}  # messages: what kafka makes columns of
    modules = {file.stem for file in folder.glob("*.py")} - shared
    functions = [function for source in SOURCES.values() for function in vars(source).values() if function]
    used = {function.__module__.rpartition(".")[2] for function in functions}
    assert modules == used - shared, "SOURCES of jobs/engine/sources lacks a line"


def test_every_format_is_documented() -> None:
    page = (ROOT / "docs" / "sources.md").read_text()
    assert [name for name in FORMATS if f"`{name}`" not in page and f"format: {name}" not in page] == []
