"""A plan that follows its catalog: queries join and leave, and every query has exactly one tree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.write import add_query, remove_query
from optimizer.plan.definition import EVENTS, Curve, Measure, Tree
from optimizer.planning.recent import Passing
from optimizer.planning.reweave import reweave, technique_of
from optimizer.planning.stream import plan_stream

QUERIES = """
streams:
  s: {source: {format: parquet, path: data}, time: ts, lateness: 1 second}
queries:
  - {id: a, stream: s, select: max(x), group_by: [k], range: 20 seconds, slide: 5 seconds}
  - {id: b, stream: s, select: max(x), group_by: [k], range: 15 seconds, slide: 10 seconds}
  - {id: c, stream: s, select: sum(x), range: 30 seconds, slide: 4 seconds}
  - {id: m, stream: s, select: collect_set(x), range: 30 seconds, slide: 4 seconds}
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
    after = reweave(before, load_catalog(folder)).plan
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
    again = reweave(plan, load_catalog(folder)).plan
    assert again.fingerprint() == plan.fingerprint()
    assert all(tree.feed == EVENTS for tree in again.trees)


ROWS = """
streams:
  s: {source: {format: parquet, path: data}, time: ts, lateness: 1 second}
queries:
  - {id: a, stream: s, select: max(x), where: x > 1, range: 20 rows, slide: 5 rows}
  - {id: b, stream: s, select: max(x), where: x > 2, range: 20 rows, slide: 5 rows}
"""


def test_windows_in_rows_share_a_tree_only_with_the_same_predicate(folder: Path) -> None:
    (folder / "queries.yaml").write_text(ROWS)
    before = plan_stream(load_catalog(folder), "s", 1000.0, "weave_share", "two_stacks_block")
    for id, where in (("c", "x > 2"), ("d", "x > 3")):
        add_query(
            folder,
            {"id": id, "stream": "s", "select": "max(x)", "where": where, "range": "20 rows", "slide": "5 rows"},
        )
    after = reweave(before, load_catalog(folder)).plan
    assert sorted(tuple(tree.queries) for tree in after.trees) == [("a",), ("b", "c"), ("d",)]


class Counted:
    """Recent events of as many keys as there are letters in the columns' names."""

    def keys(self, group_by: tuple[str, ...], slide: int) -> float:
        return 10.0 * len("".join(group_by))

    def active(self, group_by: tuple[str, ...], rate: float) -> Curve:
        return ((1.0, 10.0 * len("".join(group_by))),)

    def file_events(self) -> float:
        return 0.0

    def share(self, where: str) -> float:
        return 1.0

    def entries(self, measure: Measure, group_by: tuple[str, ...], slide: int) -> float:
        return 0.0

    def passing(self, tree: Tree, wheres: Sequence[str]) -> Passing:
        raise AssertionError("there are no predicates")


@pytest.mark.parametrize("strategy", ["weave_share", "tri_weave"])
def test_recent_events_tell_the_keys_of_a_grouping_that_begins(folder: Path, strategy: str) -> None:
    before = plan_stream(load_catalog(folder), "s", 1000.0, strategy, "two_stacks_block", recent=Counted())
    new = {
        "id": "d",
        "stream": "s",
        "select": "max(x)",
        "group_by": ["both"],
        "range": "9 seconds",
        "slide": "9 seconds",
    }
    add_query(folder, new)
    after = reweave(before, load_catalog(folder), Counted()).plan
    assert {("k",): 10.0, ("both",): 40.0}.items() <= dict(after.traffic.groups).items()
    assert after.cost == pytest.approx(after.recomputed_cost())
    assert [tree.group_by for tree in after.trees if not tree.queries] == [("both", "k")]  # folded for both of them
    add_query(folder, {**new, "id": "e"})
    later = reweave(after, load_catalog(folder), Counted()).plan
    assert {query for tree in later.trees for query in tree.queries} == {"a", "b", "c", "d", "e"}


def test_keys_that_were_given_stay(folder: Path) -> None:
    for strategy in ("weave_share", "tri_weave"):
        before = plan_stream(load_catalog(folder), "s", 1000.0, strategy, "two_stacks_block", keys=3.0)
        assert reweave(before, load_catalog(folder), Counted()).plan.traffic == before.traffic
