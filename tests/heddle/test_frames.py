"""`heddle.run`: answers of the kind that the events are, equal to plain Spark's; a mistake is one line."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import heddle
from optimizer.errors import HeddleError

ROOT = Path(__file__).parents[2]
QUERIES: dict[str, Any] = {
    "peaks": """
        SELECT machine, window, max(x) AS peak, min(x), count(*) AS n
        FROM t GROUP BY machine, window(ts, '10 seconds', '5 seconds')""",
    "means": """
        SELECT window.start AS since, avg(n) AS mean FROM t WHERE n > 3 GROUP BY window(ts, '1 minute', '7 seconds')""",
    "high": """
        SELECT machine, window, max(n), count(*) AS many FROM t AS e GROUP BY machine, window(ts, '30 seconds')
        HAVING max(e.n) > 5 AND machine IN ('a', 'é')""",
    "parts": "SELECT sum(n) FILTER (WHERE n > 5) AS large, sum(n) AS every FROM t GROUP BY window(ts, '20 seconds')",
    "fields": {"select": "last(x)", "group_by": ["machine", "day"], "range": "9 seconds", "where": "machine <> 'b'"},
}
FIELDS = {"select": "count(*) AS n", "range": "9 seconds"}
UNSHARED = "SELECT machine, window, collect_list(n) AS all_of_them FROM t GROUP BY machine, window(ts, '10 seconds')"


def some_events(count: int = 400) -> pa.Table:
    pick = random.Random(7)
    times = [1_700_000_000_000_000 + place * 1_000_000 for place in pick.sample(range(10 * count), count)]
    columns = {
        "ts": pa.array(times, pa.timestamp("us", "UTC")),
        "machine": pa.array(pick.choices(["a", "b", "é", None], k=count)),
        "day": pa.array(pick.choices(range(3), k=count), pa.date32()),
        "x": pa.array(pick.choices([None, math.nan, math.inf, -0.0, 1.5, 2.5], k=count), pa.float64()),
        "n": pa.array(pick.choices([None, *range(10)], k=count), pa.int32()),
    }
    return pa.table(columns)


def rows(table: pa.Table) -> list[str]:
    return sorted(repr(row) for row in table.to_pylist())


def test_answers_are_those_of_plain_spark_for_arrow_and_spark(spark: SparkSession) -> None:
    events = some_events()
    frame = spark.createDataFrame(events)
    frame.createOrReplaceTempView("t")
    ours = heddle.run(events, QUERIES, time="ts")
    on_spark = heddle.run(frame, QUERIES | {"lists": UNSHARED}, "ts")
    theirs = {name: spark.sql(sql).toArrow() for name, sql in QUERIES.items() if isinstance(sql, str)}
    theirs["fields"] = spark.sql(
        "SELECT machine, day, window, max_by(x, ts) AS `last(x)` FROM t WHERE machine <> 'b' "
        "GROUP BY machine, day, window(ts, '9 seconds')"
    ).toArrow()
    assert list(ours) == list(QUERIES)
    for name, expected in theirs.items():
        assert expected.num_rows > 30
        assert rows(ours[name]) == rows(expected), name
        assert rows(on_spark[name].toArrow()) == rows(expected), name
        assert on_spark[name].columns == ours[name].column_names == expected.column_names
    assert on_spark["lists"].count() == spark.sql(UNSHARED).count()
    assert "trees" in str(heddle.explain(frame, QUERIES))


def test_pandas_gets_pandas_with_windows_side_by_side() -> None:
    events = some_events().to_pandas()
    events["kind"] = events.machine.astype("category")
    sql = "SELECT kind, window, sum(n) AS total FROM t GROUP BY kind, window(ts, '30 seconds')"
    answers = heddle.run(events, [sql])["q1"]
    assert isinstance(answers, pd.DataFrame)
    assert list(answers.columns) == ["kind", "window.start", "window.end", "total"]
    assert answers["window.start"].is_monotonic_increasing
    start = events.ts.dt.floor("30s")  # a whole number of them since the epoch
    expected = events.groupby([start, events.machine], dropna=False).n.sum(min_count=1)
    assert answers.total.fillna(-1).sum() == expected.fillna(-1).sum()
    assert len(answers) == len(expected)


def test_times_of_other_units_without_a_zone_and_rows_as_a_clock() -> None:
    events = some_events()
    plain = events.set_column(0, "ts", events["ts"].cast(pa.timestamp("ns")))
    sql = "SELECT window, max(n) AS peak FROM t GROUP BY window(ts, '1 minute')"
    answers = heddle.run(plain, {"peak": sql, "rows": {"select": "sum(n)", "range": "100 rows", "slide": "50 rows"}})
    assert answers["peak"]["window"].type.field("start").type == pa.timestamp("us")
    assert answers["peak"]["peak"] == heddle.run(events, {"peak": sql})["peak"]["peak"]
    assert [window["start"] for window in answers["rows"]["window"].to_pylist()] == list(range(-50, 301, 50))


def _dictionary(places: list[int | None], values: list[str | None]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(places, pa.int32()), pa.array(values, pa.string()))


@pytest.mark.parametrize("chunks", [1, 2])
def test_dictionaries_with_nulls_and_values_twice_are_the_texts_they_stand_for(chunks: int) -> None:
    first = [_dictionary([0, 1, 2, 3], ["a", None, "a", "b"]), _dictionary([0, 1, None, 3], ["b", "a", "unused", None])]
    second = [_dictionary([0, 1, 1, 0], ["x", "x"]), _dictionary([1, 1, 0, 0], ["u", None])]
    times = pa.array(range(8), pa.timestamp("s"))
    table = pa.table(
        {
            "ts": times[: 4 * chunks],
            "k": pa.chunked_array(first[:chunks]),
            "j": pa.chunked_array(second[:chunks]),
            "x": pa.array(range(4 * chunks)),
        }
    )
    texts = table.cast(pa.schema([("ts", times.type), ("k", pa.string()), ("j", pa.string()), ("x", pa.int64())]))
    window = "window(ts, '1 minute')"
    queries = [
        f"SELECT k, j, sum(x) AS s, count(k) AS c FROM t GROUP BY k, j, {window}",
        f"SELECT k, max(j) AS m FROM t WHERE j IS NULL OR j = 'x' OR k IS NULL GROUP BY k, {window}",
        f"SELECT count(k) AS c, count(DISTINCT j) AS d, max(k) AS m FROM t GROUP BY {window}",
    ]
    assert heddle.run(table, queries) == heddle.run(texts, queries)


def test_no_events_give_no_rows() -> None:
    answers = heddle.run(some_events().slice(0, 0), QUERIES)
    assert [table.num_rows for table in answers.values()] == [0] * len(QUERIES)
    assert answers["peaks"].column_names == ["machine", "window", "peak", "min(x)", "n"]


@pytest.mark.parametrize(
    ("queries", "line"),
    [
        ([], "there is no query"),
        ("SELECT 1", "queries:1: q1: sql: there is no FROM"),
        ({"a": "SELECT 1", "b b": UNSHARED}, "queries:2: 'b b': id: 'b b' is no id"),
        ({"select": "max(x)", "range": "1 minute"}, "no query names the time column; give it as time="),
        ("SELECT window, max(y) FROM t GROUP BY window(ts, '1 hour')", "y"),
        ("SELECT window, max(x) FROM t GROUP BY window(n, '1 hour')", "the time of t, n, is a int32"),
        (UNSHARED, "q1: only Spark evaluates that; give the events as a Spark DataFrame"),
        (["SELECT max(x) FROM a GROUP BY window(ts, '1 hour')", "SELECT max(x) FROM b GROUP BY window(ts, '1 hour')"],
         "the queries read FROM 'a' and 'b'; there is one table of events"),
        ([5], "'5' is not a query"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line(queries: Any, line: str) -> None:
    with pytest.raises(HeddleError) as error:
        heddle.run(some_events(), queries)
    assert line in str(error.value)
    assert len(str(error.value).splitlines()) == (2 if "b b" in queries else 1)  # a line for each


def test_events_that_are_no_table() -> None:
    with pytest.raises(HeddleError, match="events are a list; give a table of pandas"):
        heddle.run([1, 2], QUERIES)


def test_columns_of_one_name() -> None:
    """They matter where a query reads them."""
    events = pd.DataFrame([[pd.Timestamp(0), 1, 2, 3]], columns=["ts", "x", "y", "y"])
    sql = "SELECT window, max({}) AS top FROM t GROUP BY window(ts, '1 minute')"
    assert heddle.run(events, sql.format("x"))["q1"].top.tolist() == [1]
    for table in (events, pa.table(list(map(pa.array, ([0], [2], [3]))), names=["ts", "y", "y"])):
        with pytest.raises(HeddleError, match="two columns called y; rename one"):
            heddle.run(table, sql.format("y"))


def test_the_notebook_runs(capsys: pytest.CaptureFixture[str]) -> None:
    notebook = json.loads((ROOT / "examples" / "frames.ipynb").read_text())
    names: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []  # none that may be out of date
            exec("".join(cell["source"]), names)
    assert "planned cost" in capsys.readouterr().out
    assert len(names["answers"]["busiest"]) > 100


@pytest.mark.parametrize("name", ["a.b", "{x}", "/* a */", "a AS b", "it's", "order by ts", "`", "-- a", "1"])
def test_the_time_may_be_called_as_it_likes(name: str) -> None:
    """A name in SQL is a name, whatever it would be in a text that names a column."""
    events, quoted = some_events(40), "`" + name.replace("`", "``") + "`"
    sql = "SELECT window.start AS at, count(*) AS n FROM t GROUP BY window({}, '9 seconds')"
    renamed = events.rename_columns([name, *events.column_names[1:]])
    assert heddle.run(renamed, sql.format(quoted))["q1"].equals(heddle.run(events, sql.format("ts"))["q1"])
    assert heddle.run(renamed, FIELDS, time=quoted)["q1"].equals(heddle.run(events, FIELDS, time="ts")["q1"])
