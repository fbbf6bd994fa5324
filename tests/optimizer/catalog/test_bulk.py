"""Machine-made catalogs: the same queries as columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.bulk import plain_durations
from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.sql.durations import parse_duration
from optimizer.errors import CatalogError, Mistake
from tests.optimizer.catalog.catalogs import STREAMS, entries, load, write

FIELDS = ("id", "stream", "select", "where", "group_by", "range", "slide", "offset")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bulk")


def single(entry: dict[str, object]) -> dict[str, object]:
    select = entry["select"]
    return entry | {"select": select[0] if isinstance(select, list) else select}


def load_bulk(folder: Path, table: pa.Table, suffix: str = ".parquet") -> Catalog:
    catalog = write(folder, {"streams.yaml": STREAMS})
    (pq.write_table if suffix == ".parquet" else pa_csv.write_csv)(table, catalog / f"queries{suffix}")
    return load_catalog(catalog)


def as_table(queries: list[dict[str, object]]) -> pa.Table:
    columns = {field: [entry.get(field) for entry in queries] for field in FIELDS}
    columns["group_by"] = [",".join(keys) for keys in columns["group_by"]]  # type: ignore[arg-type]
    return pa.table({field: pa.array(values, pa.string()) for field, values in columns.items()})


@settings(max_examples=30, deadline=None)
@given(
    queries=st.lists(entries().map(single), min_size=1, max_size=4, unique_by=lambda entry: entry["id"]),
    suffix=st.sampled_from((".parquet", ".csv")),
)
def test_bulk_and_yaml_are_the_same_catalog(folder: Path, queries: list[dict[str, object]], suffix: str) -> None:
    bulk = load_bulk(folder, as_table(queries), suffix)
    assert sorted(bulk.queries, key=lambda query: query.id) == sorted(
        load(folder, queries).queries, key=lambda query: query.id
    )
    assert bulk == load(folder, queries)


def test_types_that_machines_write(folder: Path) -> None:
    table = pa.table(
        {
            "id": pa.array(["a", "b"]).dictionary_encode(),
            "stream": ["vibration", "vibration"],
            "aggregate": ["max", "count"],
            "expression": ["x + 1", "*"],
            "group_by": [["machine", "label"], []],
            "range": [60_000_000, 10],
            "slide": np.array([30_000_000, 10], dtype=np.int32),
        }
    )
    catalog = load_bulk(folder, table)
    first, second = catalog.queries
    assert (first.aggregate, first.arguments, first.group_by) == ("max", ("x + 1",), ("machine", "label"))
    assert (second.arguments, second.group_by, second.window.range) == (("*",), (), 10)
    ranges, slides, offsets = catalog.windows_of("vibration")
    assert ranges.tolist() == [60_000_000, 10]
    assert slides.tolist() == [30_000_000, 10]
    assert offsets.tolist() == [0, 0]


def test_a_row_for_each_problem(folder: Path) -> None:
    good = {"stream": "vibration", "select": "max(x)", "where": "", "group_by": "", "range": "1 minute", "slide": ""}
    rows = [
        good | {"id": "fine"},
        good | {"id": "Bad"},
        good | {"id": "s", "stream": "vibratio"},
        good | {"id": "a", "select": "maxx(x)"},
        good | {"id": "w", "where": "rand() > 1"},
        good | {"id": "r", "range": "1 month"},
        good | {"id": "l", "slide": "2 minutes"},
        good | {"id": "m", "slide": "5 rows"},
        good | {"id": "fine"},
        good | {"id": "x", "range": ""},
        good | {"id": "machine", "group_by": "machine"},
    ]
    with pytest.raises(CatalogError) as refused:
        load_bulk(folder, pa.Table.from_pylist(rows))
    found = {(problem.line, problem.field) for problem in refused.value.problems}
    assert found >= {(3, "id"), (4, "stream"), (5, "select"), (6, "where"), (7, "range"), (8, "slide"), (9, "range")}
    assert found >= {(2, "id"), (10, "id"), (11, "range"), (12, "group_by")}
    assert "did you mean max?" in str(refused.value)


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"id": ["a"]}),
        pa.table({"id": ["a"], "stream": ["vibration"], "select": ["max(x)"], "rang": ["1 minute"]}),
        pa.table({"id": [[1]], "stream": ["vibration"], "select": ["max(x)"], "range": ["1 minute"]}),
        pa.table({"id": [1], "stream": [2.5], "select": [True], "range": [None]}),
        pa.table({"id": [None], "stream": [None], "select": [None], "range": [None]}),
        pa.table({"id": ["a"], "stream": ["vibration"], "select": ["max(x)"], "range": [2**63 - 1], "slide": [0]}),
        pa.table({"id": ["a\n"], "stream": ["vibration"], "select": ["max(x)"], "range": [5]}),
        pa.table({"id": [b"\xff"], "stream": ["vibration"], "select": ["max(x)"], "range": [5]}),
        pa.table({"id": [{"a": 1}], "stream": ["vibration"], "select": ["max(x)"], "range": [5]}),
    ],
)
def test_odd_tables_are_lines(folder: Path, table: pa.Table) -> None:
    with pytest.raises(CatalogError) as refused:
        load_bulk(folder, table)
    assert all(len(str(problem).splitlines()) == 1 for problem in refused.value.problems)


def test_a_sequence_like_any_other(folder: Path) -> None:
    queries = [
        {
            "id": f"q{n}",
            "stream": ("vibration", "trades")[n % 2],
            "select": "max(x)",
            "range": "1 minute",
            "group_by": [],
        }
        for n in range(10)
    ]
    catalog = load_bulk(folder, as_table(queries))
    assert [query.id for query in catalog.queries[2:4]] == ["q2", "q3"]
    assert catalog.queries[-1].id == "q9"
    assert catalog.query("q4") == catalog.queries[4]
    assert {query.stream for query in catalog.of_stream("trades")} == {"trades"}
    assert len(catalog.statements) == 10
    with pytest.raises(IndexError):
        catalog.queries[10]


@given(
    st.lists(
        st.tuples(st.integers(0, 10**12), st.sampled_from(("second", "weeks", "us", "rows", "parsec"))), min_size=1
    )
)
def test_plain_durations_are_parsed_as_one_by_one(parts: list[tuple[int, str]]) -> None:
    texts = [f"{count} {unit}" for count, unit in parts]
    found = plain_durations(pa.array(texts))
    try:
        expected = [parse_duration(text) for text in texts]
    except Mistake:
        assert found is None
    else:
        assert found.tolist() == expected
