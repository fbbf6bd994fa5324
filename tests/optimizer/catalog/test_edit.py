"""Queries added to and removed from a folder of files that people also edit."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.plans.queries import register_query, retire_query
from jobs.steps.replan import entry_of_form
from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.write import add_query, remove_query
from optimizer.errors import CatalogError, HeddleError
from tests.optimizer.catalog.catalogs import STREAMS, write

QUERIES = """# what we watch
queries:
  # the peak
  - {id: peak, stream: vibration, select: max(x), range: 1 minute}
  - id: low # in blocks
    stream: vibration
    select: min(x)
    range: 1 minute

  # the mean
  - {id: mean, stream: vibration, select: avg(x), range: 1 minute}
"""
NEW = {"id": "total", "stream": "vibration", "select": "sum(x)", "range": "1 minute", "where": None}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sql = "SELECT count(*) FROM vibration GROUP BY window(ts, '1 minute')"
    catalog = write(tmp_path, {"streams.yaml": STREAMS, "queries.yaml": QUERIES, "number.sql": sql})
    bulk = {"id": ["b1", "b2"], "stream": ["vibration"] * 2, "select": ["max(x)"] * 2, "range": ["1 minute"] * 2}
    pq.write_table(pa.table(bulk), catalog / "bulk.parquet")
    return catalog


def ids(folder: Path) -> set[str]:
    return set(load_catalog(folder).statements)


def git(folder: Path, *arguments: str) -> str:
    named = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(folder), *arguments]
    return subprocess.run(named, check=True, capture_output=True, text=True).stdout


def test_a_catalog_under_git_gets_a_commit_per_change_with_who_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    form = {"id": "both", "stream": "vibration", "select": "max(x) AS high\nmin(x) AS low\n", "range": "1 minute"}
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "heddle")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "heddle@example.org")
    git(folder, "init", "--quiet")
    git(folder, "add", "queries.yaml", "streams.yaml")
    git(folder, "commit", "--quiet", "-m", "Begin")
    assert register_query(str(folder), entry_of_form(form), said.append, "ann") == "vibration"
    assert set(load_catalog(folder).of_stream("vibration").ids.to_pylist()) >= {"both_high", "both_low"}
    assert retire_query(str(folder), "both", said.append, "ben") == "vibration"
    assert "peak" in ids(folder)
    retire_query(str(folder), "peak", said.append)
    log = git(folder, "log", "--format=%s/%b", "--name-only").split("\n\n")
    texts = [" ".join(entry.split()) for entry in " ".join(log).split("Begin")[0].split(".yaml") if entry.strip()]
    assert texts == [
        "Retire query peak over vibration/Asked for by nobody known. queries",
        "Retire query both over vibration/Asked for by ben. both",
        "Register query both over vibration/Asked for by ann. both",
    ]
    assert git(folder, "status", "--porcelain").split("\n")[:1] == ["?? bulk.parquet"]  # what nobody asked about
    (folder / ".gitignore").write_text("*.yaml\n")
    said.clear()
    register_query(str(folder), NEW, said.append)
    assert not any("git" in line for line in said)


@pytest.mark.parametrize("form", [{"id": "a"}, {"id": "a", "select": "max(x)", "sql": "SELECT 1"}])
def test_a_form_says_either_fields_or_sql(form: dict[str, str]) -> None:
    with pytest.raises(HeddleError, match="either select or sql"):
        entry_of_form(form)
    assert entry_of_form({"id": "a", "select": " ", "sql": "SELECT 1", "range": "1 minute"}) == {
        "id": "a",
        "sql": "SELECT 1",
    }


def test_what_is_added_is_there(folder: Path) -> None:
    before = ids(folder)
    assert add_query(folder, NEW).name == "total.yaml"
    assert ids(folder) == before | {"total"}
    add_query(folder, {"id": "again", "sql": "SELECT max(y) FROM vibration GROUP BY window(ts, '5 minutes')"})
    assert ids(folder) == before | {"total", "again"}


@pytest.mark.parametrize(
    "change", [{"id": "peak"}, {"id": "../x"}, {"id": ""}, {"select": "maxx(x)"}, {"where": "rand() > 1"}, {"range": 5}]
)
def test_what_is_wrong_is_not_written(folder: Path, change: dict[str, object]) -> None:
    before = sorted(file.name for file in folder.parent.rglob("*"))
    with pytest.raises(CatalogError):
        add_query(folder, NEW | change)
    assert sorted(file.name for file in folder.parent.rglob("*")) == before


@pytest.mark.parametrize("query", ["peak", "low", "mean", "number", "b1"])
def test_what_is_removed_is_gone_and_the_rest_stays(folder: Path, query: str) -> None:
    before = load_catalog(folder)
    remove_query(folder, query)
    after = load_catalog(folder)
    assert set(after.statements) == set(before.statements) - {query}
    assert all(after.query(left.id) == left for left in before.queries if left.statement != query)


def test_comments_of_others_stay(folder: Path) -> None:
    remove_query(folder, "low")
    text = (folder / "queries.yaml").read_text()
    assert "# what we watch" in text
    assert "# the peak" in text
    assert "low" not in text


def test_the_last_query_takes_its_file_along(folder: Path) -> None:
    add_query(folder, NEW)
    assert remove_query(folder, "total").name == "total.yaml"
    assert not (folder / "total.yaml").exists()
    for query in ("peak", "low", "mean"):
        remove_query(folder, query)
    assert not (folder / "queries.yaml").exists()


def test_flow_lists_too(folder: Path) -> None:
    entry = "{id: %s, stream: vibration, select: max(x), range: 1 minute}"
    (folder / "flow.yaml").write_text(f"queries: [{entry % 'f1'}, {entry % 'f2'}]\n")
    remove_query(folder, "f1")
    assert "f2" in ids(folder)
    assert "f1" not in ids(folder)


def test_removing_what_is_not_there(folder: Path) -> None:
    with pytest.raises(HeddleError, match="did you mean peak"):
        remove_query(folder, "peek")


@pytest.mark.parametrize("select", ["max(y)", ["max(y) AS top", "min(y)"], ["count(*)", "sum(y)", "avg(y)"]], ids=str)
def test_a_statement_of_any_number_of_aggregates_comes_and_goes(folder: Path, select: str | list[str]) -> None:
    before = ids(folder)
    told: list[str] = []
    entry = {"id": "several", "stream": "vibration", "select": select, "range": "1 minute"}
    assert register_query(str(folder), entry, told.append) == "vibration"
    assert ids(folder) == before | {"several"}
    if isinstance(select, list):
        aggregate = next(id for id in load_catalog(folder).rows if id.startswith("several_"))
        with pytest.raises(HeddleError, match=f"{aggregate}: .* it is an aggregate of several"):
            retire_query(str(folder), aggregate, told.append)
    assert retire_query(str(folder), "several", told.append) == "vibration"
    assert ids(folder) == before
    assert len(told) == 2
    with pytest.raises(HeddleError, match="several: the catalog has no such query"):
        retire_query(str(folder), "several", told.append)


def test_the_options_of_a_source_are_named_where_one_is_refused(tmp_path: Path) -> None:
    streams = STREAMS.replace("format: parquet", "format: parquet, options: {zzzzqqqq: 1}", 1)
    assert streams != STREAMS
    with pytest.raises(CatalogError, match=r"options of parquet: .*pathGlobFilter.*recursiveFileLookup"):
        load_catalog(write(tmp_path, {"streams.yaml": streams}))
