"""HAVING: bound to the columns of a statement, written back as it was, no part of a plan; mistakes in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from optimizer.catalog.read.load import inline_catalog, load_catalog
from optimizer.catalog.write import dump, print_queries
from optimizer.errors import CatalogError

SQL = "SELECT k, window.start AS at, max(x) AS peak, count(*) FROM t AS e GROUP BY k, window(ts, '1 hour') HAVING "
FIELDS: dict[str, Any] = {"select": ["max(x)", "sum(y)"], "group_by": "k", "range": "1 hour"}


@pytest.mark.parametrize(
    ("written", "bound"),
    [
        ("max(x) > 90", "peak > 90"),
        ("PEAK > 90 OR e.k = 'a'", "peak > 90 OR k = 'a'"),
        ("count(*) BETWEEN 2 AND 5 AND max(e.x) IS NOT NULL", "`count(1)` BETWEEN 2 AND 5 AND NOT peak IS NULL"),
    ],
)
def test_a_condition_is_over_the_columns(written: str, bound: str) -> None:
    assert inline_catalog(SQL + written).statements["q1"].having == bound


@pytest.mark.parametrize(
    "selected",
    [
        "count_if(b)",
        "max(x) - min(x)",
        "exp(avg(ln(x)))",
        "percentile_disc(0.7) WITHIN GROUP (ORDER BY x DESC)",
        "percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FILTER (WHERE b)",
        "max(x) FILTER (WHERE b)",
        "count(DISTINCT x)",
        "sum(if(b, 1, 0))",
    ],
)
def test_every_form_of_an_aggregate_may_be_in_it(selected: str) -> None:
    sql = f"SELECT k AS g, {selected} AS a, max(x) AS m FROM t GROUP BY k, window(ts, '1 hour') HAVING {selected} > 1"
    assert inline_catalog(sql).statements["q1"].having == "a > 1"


def test_a_key_is_known_by_both_its_names_unless_another_column_has_one() -> None:
    sql = "SELECT {} FROM t GROUP BY k, window(ts, '1 hour') HAVING k > 1 AND g > 2"
    assert inline_catalog(sql.format("k AS g, max(x)")).statements["q1"].having == "g > 1 AND g > 2"
    assert inline_catalog(sql.format("k AS g, max(x) AS k")).statements["q1"].having == "k > 1 AND g > 2"


def test_it_is_written_back_and_changes_no_plan(tmp_path: Path) -> None:
    queries = {"one": SQL + "max(x) > 90", "two": FIELDS | {"having": "sum(y) < 3"}}
    catalog = inline_catalog(queries, time="ts")
    streams = {"t": {"source": {"path": "data"}, "time": "ts"}}
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "all.yaml").write_text(dump({"streams": streams, "queries": list(print_queries(catalog))}))
    again = load_catalog(tmp_path / "catalog")
    assert again.having == catalog.having == {"one": "peak > 90", "two": "`sum(y)` < 3"}
    without = inline_catalog({"one": SQL.removesuffix("HAVING "), "two": FIELDS}, time="ts")
    assert without.fingerprint("t") == catalog.fingerprint("t")
    assert without != catalog
    assert "HAVING" not in catalog.statements["one"].sql  # what the audit asks of Spark


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("min(x) > 1", "'MIN(x)' is not selected; select it, too"),
        ("x > 1", "'x' is no column of the answer; it may name k, peak, count(1)"),
        ("at > 1", "'at' is no column of the answer"),
        ("peak > (SELECT 1)", "refused"),
        ("reflect('a', 'b') = peak", "reflect"),
    ],
)
def test_a_mistake_is_one_line(written: str, line: str) -> None:
    with pytest.raises(CatalogError) as error:
        inline_catalog(SQL + written)
    assert line.lower() in str(error.value).lower()
    assert len(str(error.value).splitlines()) == 1
