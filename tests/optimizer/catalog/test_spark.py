"""What the catalog says without Spark is what Spark says: values, types and names."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.catalog import oracle_aggregate
from optimizer.catalog.model.query import Query
from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.read.selects import parse_selected
from optimizer.catalog.spark_types.numbers import UNKNOWN
from optimizer.catalog.spark_types.results import RESULTS, expression_type, result_type
from optimizer.catalog.sql.expressions import expression
from optimizer.catalog.sql.grammar import FUNCTIONS
from optimizer.catalog.write import dump
from optimizer.windows.window import Window
from tests.optimizer.catalog.catalogs import write

EXAMPLES = Path(__file__).parents[3] / "examples" / "catalog"
SCHEMA = {
    "si": "smallint",
    "i": "int",
    "l": "bigint",
    "f": "float",
    "d": "double",
    "m": "decimal(12,3)",
    "s": "string",
    "b": "boolean",
    "ts": "timestamp",
    "dt": "date",
}
ROW = (
    "cast(3 AS SMALLINT) AS si, 1 AS i, 2L AS l, cast(1.5 AS FLOAT) AS f, 2.5D AS d, "
    "cast(3.25 AS DECIMAL(12, 3)) AS m, 'abc' AS s, true AS b, "
    "timestamp'2020-01-02 03:04:05' AS ts, date'2020-01-02' AS dt"
)
ARGUMENTS = {
    "left": "s, 2",
    "right": "s, 2",
    "substring": "s, 1, 2",
    "substr": "s, 2",
    "concat": "s, s",
    "startswith": "s, 'a'",
    "endswith": "s, 'a'",
    "contains": "s, 'a'",
    "date_trunc": "'hour', ts",
    "if": "b, i, l",
    "bit_count": "i",
    "shiftleft": "i, 1",
    "shiftright": "l, 1",
    **dict.fromkeys(("lower", "upper", "lcase", "ucase", "length", "char_length", "trim", "ltrim", "rtrim"), "s"),
    **dict.fromkeys(("year", "quarter", "month", "day", "dayofmonth", "dayofweek", "dayofyear", "hour"), "ts"),
    **dict.fromkeys(("minute", "second", "unix_seconds", "unix_millis", "unix_micros"), "ts"),
}
CALLS = [f"{name}({ARGUMENTS.get(name, ', '.join(['d'] * low))})" for name, (low, _) in FUNCTIONS.items()]
CALLS += [f"{name}({column})" for name in ("abs", "ceil", "floor", "round", "sqrt") for column in ("i", "l", "f", "m")]
CALLS += [
    f"{name}({two})" for name in ("coalesce", "greatest", "mod", "nanvl") for two in ("i, l", "i, m", "f, d", "l, f")
]
NUMBERS = ("si", "i", "l", "f", "d", "m", "1", "1.5", "12345678901")
SUMS = [f"{left} {sign} {right}" for sign in "+-*/%" for left in NUMBERS[:6] for right in NUMBERS]
OTHERS = [
    *("i & l", "i | i", "i ^ l", "~i", "-d", "- -i", "-(-m)", "l DIV 2", "(i + 1) * 2", "i - (l - 1)", "i - l - 1"),
    *(
        "i = 1",
        "i == 1",
        "i <> 1",
        "i != 1",
        "i <=> 1",
        "i IS DISTINCT FROM 1",
        "i > 1",
        "NOT b",
        "!b",
        "b AND NOT b OR b",
    ),
    *("i IN (1, 2)", "i NOT IN (1, 2)", "s LIKE 'a%'", "s NOT LIKE 'a%'", "s ILIKE 'A%'", "s LIKE 'a\\\\_%'"),
    *("s IS NULL", "s IS NOT NULL", "b IS TRUE", "b IS NOT TRUE", "i BETWEEN 1 AND 3", "i NOT BETWEEN 1 AND 3"),
    *(
        "s || s",
        "CASE WHEN b THEN i ELSE l END",
        "CASE i WHEN 1 THEN d END",
        "CASE WHEN b THEN i END",
        "if(b, 1, NULL)",
    ),
    *(
        "cast(d AS INT)",
        "cast(d AS DECIMAL(10, 2))",
        "cast(d AS DECIMAL(5))",
        "cast(d AS DECIMAL)",
        "cast(i AS STRING)",
    ),
    *(
        "try_cast(s AS INT)",
        "cast(ts AS TIMESTAMP_NTZ)",
        "d::FLOAT",
        "1e3",
        "1E-3",
        "2.5e9",
        "1.50",
        "0.5",
        "'x'",
        "true",
    ),
    *(
        "s = 'it\\'s'",
        "s = 'a\\\\b'",
        "s = 'é漢'",
        "s = 'tab\\tx'",
        's = "abc"',
        "`i` + 1",
        "hour(ts) > 3 AND s IN ('a')",
    ),
]
UNNAMED = ["5L", "1D", "2.5BD", "ts > timestamp '2020-01-01'", "dt = date '2020-01-02'"]  # Spark names them otherwise
EXPRESSIONS = CALLS + SUMS + OTHERS


@pytest.fixture(scope="module", autouse=True)
def events(spark: SparkSession) -> None:
    spark.sql(f"SELECT {ROW}").createOrReplaceTempView("one")


def test_canonical_expressions_have_the_same_values_and_types(spark: SparkSession) -> None:
    given = CALLS + OTHERS + UNNAMED
    written = spark.sql(f"SELECT {', '.join(f'{text} AS c{n}' for n, text in enumerate(given))} FROM one")
    printed = spark.sql(f"SELECT {', '.join(f'{expression(text)} AS c{n}' for n, text in enumerate(given))} FROM one")
    assert written.dtypes == printed.dtypes
    values = zip(given, written.collect()[0], printed.collect()[0], strict=True)
    assert [(text, left, right) for text, left, right in values if repr(left) != repr(right)] == []


def test_types_are_sparks(spark: SparkSession) -> None:
    given = EXPRESSIONS + UNNAMED
    found = spark.sql(f"SELECT {', '.join(f'{text} AS c{n}' for n, text in enumerate(given))} FROM one").dtypes
    derived = [
        (text, expression_type(expression(text), SCHEMA), dtype) for text, (_, dtype) in zip(given, found, strict=True)
    ]
    assert [each for each in derived if each[1] != each[2]] == []


def test_names_are_sparks(spark: SparkSession) -> None:
    counts = [f"count({text})" for text in EXPRESSIONS]
    counts += ["count(*)", "count(1)", "count(DISTINCT i)", "max(i) - min(i)", "exp(avg(ln(d)))", "sum(`i`)", "any(b)"]
    counts += ["count(*) FILTER (WHERE i > 1)", "max(d) FILTER (WHERE b)", "percentile(d, 0.5)", "min(DISTINCT i)"]
    counts += ["percentile_cont(0.5) WITHIN GROUP (ORDER BY d DESC)", "percentile_disc(0.5) WITHIN GROUP (ORDER BY i)"]
    counts += ["percentile(d, array(0.25, 0.5))", "percentile(d, 0.5, i)", "approx_percentile(d, 0.5, 100)"]
    counts += ["collect_list(i)", "array_agg(i)", "listagg(s, ',')", "string_agg(s)", "count(DISTINCT i, s)"]
    counts += ["histogram_numeric(d, 3)", "collect_set(s)"]
    found = spark.sql(f"SELECT {', '.join(counts)} FROM one").columns
    named = [(text, parse_selected(text).name, name) for text, name in zip(counts, found, strict=True)]
    assert [each for each in named if each[1] != each[2]] == []


def _query(aggregate: str, column: str) -> Query:
    second = "0.5" if aggregate.startswith("percentile") else "i"
    more = (second, "1")[: AGGREGATES[aggregate].arguments - 1]
    return Query("q", "one", aggregate, (column, *more), Window(1, 1), "", (), "q")


def test_answers_have_sparks_types(spark: SparkSession) -> None:
    known = [name for name in AGGREGATES if RESULTS[name][1]("int") != UNKNOWN]
    typed = [(aggregate, column) for aggregate in known for column in SCHEMA if _accepted(aggregate, column)]
    queries = [_query(*pair) for pair in typed]
    selects = ", ".join(f"{oracle_aggregate(query, 'ts')} AS c{n}" for n, query in enumerate(queries))
    found = [dtype for _, dtype in spark.sql(f"SELECT {selects} FROM one").dtypes]
    derived = [result_type(query, SCHEMA) for query in queries]
    assert [each for each in zip(typed, derived, found, strict=True) if each[1] != each[2]] == []


def _accepted(aggregate: str, column: str) -> bool:
    found = SCHEMA[column]
    if aggregate.startswith("bool"):
        return found == "boolean"
    if aggregate.startswith("bit"):
        return found in ("smallint", "int", "bigint")
    picked = ("min", "max", "first", "last", "any_value", "argmax", "argmin", "mode")
    return (
        aggregate in ("count", "count_distinct", "count_distinct_rows", "approx_count_distinct")
        or aggregate in picked
        or column in ("si", "i", "l", "f", "d", "m")
    )


@pytest.fixture(scope="module")
def plant(spark: SparkSession) -> None:
    chance = random.Random(1)
    sensors, trades = [], []
    for second in range(0, 3600, 7):
        energy = [chance.choice((None, 1.0, 2.5, 1e9, -3.0)) for _ in range(4)]
        flags = [chance.random() < 0.5, chance.random() < 0.2]
        sensors.append((1_600_000_000 + second, f"m{second % 3}", *energy, *flags, second))
        trade = (f"s{second % 2}", 100.0 + second % 11, second % 1500, chance.choice(("NYSE", "NASDAQ", None)))
        trades.append((1_600_000_000 + second, *trade))
    names = "ts bigint, machine string, energy_1 double, energy_2 double, energy_3 double, temperature double"
    _view(spark, "sensors", sensors, f"{names}, running boolean, alarm boolean, cycle bigint")
    _view(spark, "trades", trades, "ts bigint, symbol string, price double, volume bigint, exchange string")


def _view(spark: SparkSession, name: str, rows: list[tuple[object, ...]], schema: str) -> None:
    events = spark.createDataFrame(rows, schema)
    events.withColumn("ts", events.ts.cast("timestamp")).createOrReplaceTempView(name)


@pytest.mark.usefixtures("plant")
def test_every_example_runs_as_it_says(spark: SparkSession) -> None:
    catalog = load_catalog(EXAMPLES)
    schemas = {name: dict(spark.table(name).dtypes) for name in catalog.streams}
    for statement in catalog.statements.values():
        found = dict(spark.sql(statement.sql).dtypes)
        assert list(found) == [column.name for column in statement.columns]
        for column in statement.columns:
            if column.kind == "answer":
                query = catalog.query(column.source)
                assert found[column.name] == result_type(query, schemas[query.stream]), column


@pytest.mark.usefixtures("plant")
@pytest.mark.parametrize("name", ["alarms_by_machine", "busiest_price", "spread_5m"])
def test_the_statement_answers_like_the_users_own_sql(spark: SparkSession, name: str) -> None:
    own = spark.sql((EXAMPLES / f"{name}.sql").read_text())
    ours = spark.sql(load_catalog(EXAMPLES).statements[name].sql)
    assert own.dtypes == ours.dtypes
    rows = own.collect()
    assert Counter(rows) == Counter(ours.collect())
    assert len(rows) > 10


def test_windows_of_rows_are_numbered_in_event_time(spark: SparkSession, tmp_path: Path) -> None:
    chance = random.Random(2)
    seconds = {key: chance.sample(range(1000), 23 + 9 * key) for key in range(3)}
    rows = [(second, key, second % 7) for key, times in seconds.items() for second in times]
    chance.shuffle(rows)
    _view(spark, "counted", rows, "ts bigint, key int, x bigint")
    entry = {"id": "q", "stream": "counted", "select": "sum(x) AS total", "group_by": ["key"]}
    entry |= {"range": "10 rows", "slide": "4 rows", "offset": "1 row"}
    stream = {"counted": {"source": {"path": "x"}, "time": "ts"}}
    folder = write(tmp_path, {"a.yaml": dump({"streams": stream, "queries": [entry]})})
    statement = load_catalog(folder).statements["q"]
    expected = {
        (key, start, start + 10): sum(second % 7 for second in sorted(times)[max(start, 0) : start + 10])
        for key, times in seconds.items()
        for start in range(-7, len(times) - 9, 4)
        if start + 10 <= len(times)
    }
    found = {(row.key, row.window.start, row.window.end): row.total for row in spark.sql(statement.sql).collect()}
    assert found == expected
