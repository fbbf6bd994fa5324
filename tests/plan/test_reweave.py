"""A plan that follows its catalog: queries join and leave, and every query has exactly one tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.catalog import Catalog, load_catalog
from optimizer.catalog.edit import add_query, remove_query
from optimizer.plan import EVENTS
from optimizer.reweave import reweave, technique_of
from optimizer.stream_planning import plan_stream

QUERIES = """
streams:
  s: {source: {format: parquet, path: data}, time: ts, lateness: 1 second}
queries:
  - {id: a, stream: s, select: max(x), group_by: [k], range: 20 seconds, slide: 5 seconds}
  - {id: b, stream: s, select: max(x), group_by: [k], range: 15 seconds, slide: 10 seconds}
  - {id: c, stream: s, select: sum(x), range: 30 seconds, slide: 4 seconds}
  - {id: m, stream: s, select: median(x), range: 30 seconds, slide: 4 seconds}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "queries.yaml").write_text(QUERIES)
    return tmp_path / "catalog"


def answered(catalog: Catalog, strategy: str, folder: Path, new: dict[str, object] | None, gone: str) -> list[str]:
    before = plan_stream(catalog, "s", 1000.0, strategy, "two_stacks_block")
    if new:
        add_query(folder, new)
    if gone:
        remove_query(folder, gone)
    after = reweave(before, load_catalog(folder))
    assert after.catalog_fingerprint == load_catalog(folder).fingerprint("s")
    assert after.cost == pytest.approx(after.recomputed_cost())
    assert technique_of(after) == "two_stacks_block"
    assert after.unshared == ("m",)
    return sorted(str(query) for tree in after.trees for query in tree.queries)


@pytest.mark.parametrize("strategy", ["no_share", "weave_share", "shared", "cascade", "tri_weave"])
def test_every_query_has_one_tree(folder: Path, strategy: str) -> None:
    new = {"id": "d", "stream": "s", "select": "min(x)", "range": "8 seconds", "slide": "8 seconds"}
    assert answered(load_catalog(folder), strategy, folder, new, "b") == ["a", "c", "d"]


def test_a_group_may_begin_and_end(folder: Path) -> None:
    new = {"id": "d", "stream": "s", "select": "min(x)", "group_by": ["j"], "range": "8 seconds", "slide": "8 seconds"}
    assert answered(load_catalog(folder), "weave_share", folder, new, "c") == ["a", "b", "d"]


def test_what_did_not_change_stays(folder: Path) -> None:
    plan = plan_stream(load_catalog(folder), "s", 1000.0, "weave_share", "two_stacks_block")
    again = reweave(plan, load_catalog(folder))
    assert again.fingerprint() == plan.fingerprint()
    assert all(tree.feed == EVENTS for tree in again.trees)
