"""Statements: what a warehouse knows of a statement before any of its rows is read."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from jobs.engine.warehouse.manifest import newest
from jobs.engine.warehouse.read_answers import read_answers
from jobs.engine.warehouse.statements import evaluated_statement, published_files, statement_named
from optimizer.errors import HeddleError
from tests.jobs.engine.runs import run_in_process
from tests.worlds.streams import SECOND, odd_row
from tests.worlds.warehouse import make_world, query


def test_one_query(tmp_path: Path) -> None:
    rows = [odd_row(second * SECOND, 0) | {"k": "ab"[second % 2], "n": second} for second in range(6)]
    world = make_world(tmp_path, [rows], [query("q", "sum(n)", 2 * SECOND, group_by=["k"])], 0)
    with pytest.raises(HeddleError, match=r"query q has not been evaluated in .* yet; run heddle evaluate"):
        published_files(str(tmp_path / "local"), world.catalog, "q")
    storage, manifests = run_in_process(world, world.plan())
    statement = evaluated_statement(world.catalog, "q", manifests[-1].types)
    assert statement is not None
    assert (statement.keys, statement.grouping, statement.window.range) == (("k",), "k", 2 * SECOND)
    assert (statement.types, statement.key_types) == ({"q": pa.int64()}, {"k": pa.string()})
    assert statement.instant == pa.timestamp("us", "UTC")
    assert evaluated_statement(world.catalog, "q", {}) is None

    published = published_files(str(tmp_path / "local"), world.catalog, "q")
    assert (published.statement, published.storage) == (statement, storage)
    assert published.files == newest(storage).results
    table = read_answers(published)
    assert [(row["k"], row["sum(n)"]) for row in table.to_pylist()] == [("a", 0), ("b", 1), ("a", 2), ("b", 3)]
    assert read_answers(published._replace(files=())).schema == table.schema


def test_a_query_that_is_not_there(tmp_path: Path) -> None:
    world = make_world(tmp_path, [[odd_row(0, 0)]], [query("total", "sum(n)", SECOND)], 0)
    assert statement_named(world.catalog, "total") == "total"
    with pytest.raises(HeddleError, match="there is no query 'totl' in the catalog; did you mean"):
        statement_named(world.catalog, "totl")
