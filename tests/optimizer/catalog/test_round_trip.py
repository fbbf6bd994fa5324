"""Whatever is printed loads as the same catalog, and SQL says the same as fields."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Label
from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.write import print_catalog
from tests.optimizer.catalog.catalogs import STREAMS, as_sql, entries, load, write

EXAMPLES = Path(__file__).parents[3] / "examples" / "catalog"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("catalogs")


def content(catalog: Catalog) -> tuple[object, ...]:
    queries = sorted(catalog.queries, key=lambda query: query.id)
    return dict(catalog.streams), dict(catalog.tables), queries, dict(catalog.statements)


@settings(max_examples=60, deadline=None)
@given(queries=st.lists(entries(), max_size=4, unique_by=lambda entry: entry["id"]), in_sql=st.lists(st.booleans()))
def test_printed_and_loaded_again_is_the_same(
    folder: Path, queries: list[dict[str, object]], in_sql: list[bool]
) -> None:
    written = [
        {"id": entry["id"], "sql": as_sql(entry)} if sql else entry
        for entry, sql in zip(queries, in_sql + [False] * len(queries), strict=False)
    ]
    catalog = load(folder, written)
    again = load_catalog(write(folder, print_catalog(catalog)))
    assert content(again) == content(catalog)
    assert again == catalog
    assert print_catalog(again) == print_catalog(catalog)


@settings(max_examples=60, deadline=None)
@given(entry=entries())
def test_sql_and_fields_are_the_same_query(folder: Path, entry: dict[str, object]) -> None:
    fields = load(folder, [entry])
    in_yaml = load(folder, [{"id": entry["id"], "sql": as_sql(entry)}])
    in_file = load_catalog(write(folder, {"streams.yaml": STREAMS, f"{entry['id']}.sql": as_sql(entry) + ";\n"}))
    assert content(fields) == content(in_yaml) == content(in_file)


def test_without_names_too(folder: Path) -> None:
    entry: dict[str, object] = {"id": "peak", "stream": "vibration", "select": "max(x)", "group_by": ["machine"]}
    entry |= {"range": "1 minute", "slide": "10 seconds"}
    fields, sql = load(folder, [entry]), load(folder, [{"id": "peak", "sql": as_sql(entry)}])
    assert content(fields) == content(sql)
    assert [column.name for column in sql.statements["peak"].columns] == ["machine", "window", "max(x)"]


def test_the_examples_survive_printing(tmp_path: Path) -> None:
    catalog = load_catalog(EXAMPLES)
    again = load_catalog(write(tmp_path, print_catalog(catalog)))
    assert again == catalog
    assert dict(again.statements) == dict(catalog.statements)
    assert 35 <= len(catalog.statements) <= 50


def test_order_and_files_do_not_matter(folder: Path) -> None:
    one = {"id": "one", "stream": "vibration", "select": "max(x)", "range": "1 minute"}
    two = {"id": "two", "stream": "vibration", "select": "min(x)", "range": "1 minute"}
    assert load(folder, [one, two]).fingerprint() == load(folder, [two, one]).fingerprint()
    assert load(folder, [one, two]).fingerprint("trades") == load(folder, []).fingerprint("trades")
    assert load(folder, [one, two]).fingerprint("vibration") != load(folder, [one]).fingerprint("vibration")


def test_the_zone_of_a_stream_is_kept_and_part_of_what_the_catalog_says(tmp_path: Path) -> None:
    zoned = load_catalog(write(tmp_path, {"s.yaml": "streams: {s: {source: {path: d}, time: ts, zone: Asia/Tokyo}}"}))
    plain = load_catalog(write(tmp_path, {"s.yaml": "streams: {s: {source: {path: d}, time: ts}}"}))
    assert (zoned.streams["s"].zone, plain.streams["s"].zone) == ("Asia/Tokyo", "UTC")
    assert zoned != plain
    assert load_catalog(write(tmp_path, print_catalog(zoned))) == zoned


def test_owners_and_tags_are_kept_from_every_kind_of_file_and_change_no_plan(tmp_path: Path) -> None:
    entry: dict[str, object] = {"id": "peak", "stream": "vibration", "select": "max(x)", "group_by": ["machine"]}
    entry |= {"range": "1 minute", "slide": "1 minute"}
    files = {
        "streams.yaml": STREAMS,
        "low.sql": f"-- owner: line 3\n-- tags: alarm, pager\n{as_sql({**entry, 'id': 'low'})}",
        "mean.csv": "id,stream,select,range,owner\nmean,vibration,avg(x),1 minute,lab\nsum,vibration,sum(x),1h,\n",
    }
    plain = load_catalog(write(tmp_path, {**files, "low.sql": as_sql({**entry, "id": "low"})}))
    catalog = load_catalog(write(tmp_path, files))
    assert catalog.labels == {"low": Label("line 3", ("alarm", "pager")), "mean": Label("lab")}
    assert plain.fingerprint() == catalog.fingerprint()
    assert load_catalog(write(tmp_path, print_catalog(catalog))).labels == catalog.labels
    assert load(tmp_path, [{**entry, "owner": "me", "tags": ["a"]}]).labels == {"peak": Label("me", ("a",))}
