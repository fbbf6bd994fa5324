"""Sources: whatever the files, folders and options are, every lane takes the events that Spark's own reader takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from jobs.engine.sources import list_input_files
from jobs.engine.warehouse.consumed_files import plain_path
from jobs.measure.recent_events import recent_events, recent_keys
from jobs.measure.stream import recent_on_spark
from optimizer.catalog.spark_types.parquet import BY_SPARK, folder_type, folder_value
from optimizer.errors import CatalogError, HeddleError
from tests.worlds.sources import LAST, source_world
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import STREAM

WINDOW = "window(ts, '10 seconds')"
TOTAL = {
    "total": f"SELECT k, window, sum(x) AS total, count(*) AS n FROM {STREAM} GROUP BY k, {WINDOW}",
    "middle": f"SELECT window, median(x) AS middle, count(DISTINCT x) AS xs FROM {STREAM} GROUP BY {WINDOW}",
}
ALL_LANES = ["local", "auto", "frame"]
NAMES = [
    "p*.parquet", "pq.parquet", "part[1].parquet", "part1.parquet", "{a,b}.parquet", "a.parquet", "q?.parquet",
    "a b.parquet", "a%20b.parquet", "100%.parquet", "ü#é.parquet", "a,b.parquet", "a\\b.parquet", "x+y&z=1.parquet",
]  # fmt: skip


def table(number: int, **more: Any) -> pa.Table:
    """Three events of their own value; the last lets the windows of all others end."""
    times = pa.array([number * SECOND, 15 * SECOND, LAST], pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, "k": ["a", "b", None], "x": [10**number, 10**number, 10**number], **more})


def csv(number: int) -> str:
    last = ["1970-01-01T00:00:40Z,01,7"] if number == 2 else []
    return "\n".join(["ts,k,x", f"1970-01-01T00:00:{15 + number}Z,00{number},{number}", *last])


def test_odd_names(spark: SparkSession, tmp_path: Path) -> None:
    """No file is read twice or not at all, whatever characters are in its name and in that of its folder."""
    files = {name: table(number) for number, name in enumerate(NAMES)}
    world = source_world(tmp_path, files, TOTAL, data="da*ta[1] %20")
    assert world.differences(spark, ALL_LANES) == {}
    assert world.audit(spark, "frame")
    world.backfill(spark, "frame")
    assert {query: world.rows(spark, query, "backfill") for query in TOTAL} == {
        query: world.expected(spark, query) for query in TOTAL
    }
    assert recent_on_spark(lambda: spark, world.catalog, STREAM) is not None


OPTIONS: dict[str, dict[str, str]] = {
    "none": {},
    "pathGlobFilter": {"pathGlobFilter": "[a-c]{1,2,9}*.parquet"},
    "modifiedAfter": {"modifiedAfter": "2020-09-13T12:26:41"},
    "modifiedBefore": {"modifiedBefore": "2020-09-13T12:26:44Z"},
    "recursiveFileLookup": {"recursiveFileLookup": "true"},
    "maxFilesPerTrigger": {"maxFilesPerTrigger": "1"},
    "all": {
        "recursiveFileLookup": "true",
        "pathGlobFilter": "*.parquet",
        "modifiedAfter": "2020-09-13 12:26:40+00:00",
        "modifiedBefore": "2020-09-13T12:26:46",
    },
}
FILES = [
    "a1.parquet",
    "b2.parquet",
    "below/c1.parquet",
    "below/k=7/d1.parquet",
    "c9.txt.parquet",
    "_h.parquet",
    "e.parquet",
]


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_options_of_listing(spark: SparkSession, tmp_path: Path, options: dict[str, str]) -> None:
    """One listing, which every lane takes its files from, is Spark's own."""
    names = FILES if "recursiveFileLookup" in options else [name for name in FILES if "=" not in name]
    world = source_world(tmp_path, {name: table(number) for number, name in enumerate(names)}, TOTAL, options)
    listed = list_input_files(world.catalog.streams[STREAM])
    assert sorted(file.path for file in listed) == sorted(map(plain_path, world.read(spark).inputFiles()))
    assert 0 < len(listed) < len(names)
    recent = recent_events(world.catalog, STREAM)
    assert recent is not None
    assert len(recent.events.times) == 3 * len(listed)
    local = world.run(spark, "local")
    assert local.events == 3 * len(listed)
    assert local.batches == (len(listed) if "maxFilesPerTrigger" in options else 1)


def test_options_of_listing_on_spark(spark: SparkSession, tmp_path: Path) -> None:
    world = source_world(
        tmp_path, {file: table(number) for number, file in enumerate(FILES[:2] + FILES[4:])}, TOTAL, OPTIONS["all"]
    )
    assert world.differences(spark, ["auto", "frame"]) == {}


def test_columns_that_only_some_files_have(spark: SparkSession, tmp_path: Path) -> None:
    """mergeSchema: no file says alone what the columns are."""
    files = {"a.parquet": table(0), "b.parquet": table(1, y=[1.5, None, 2.5])}
    sql = {"ys": f"SELECT window, sum(y) AS y, count(*) AS n FROM {STREAM} GROUP BY {WINDOW}"}
    world = source_world(tmp_path, files, sql, {"mergeSchema": "true", "maxFilesPerTrigger": "1"})
    assert world.differences(spark, ["auto"]) == {}
    with pytest.raises(HeddleError, match=r"mergeSchema.*leave out --local"):
        world.run(spark, "local")


@pytest.mark.parametrize(
    ("format", "options", "key"),
    [
        ("csv", {"header": "true", "schema": "ts TIMESTAMP, k STRING, x INT", "maxFilesPerTrigger": "1"}, "000"),
        ("csv", {"header": "true", "inferSchema": "true", "pathGlobFilter": "*.csv"}, "0"),
        ("json", {"schema": "ts TIMESTAMP, k STRING, x BIGINT", "recursiveFileLookup": "true"}, "000"),
    ],
)
def test_text_files(spark: SparkSession, tmp_path: Path, format: str, options: dict[str, str], key: str) -> None:
    sql = {"total": f"SELECT k, window, sum(x) AS total, count(*) AS n FROM {STREAM} GROUP BY k, {WINDOW}"}
    texts = {f"{number}.{format}": csv(number) for number in range(3)} | {"below/3.other": csv(3)}
    if format == "json":
        keys = [["ts", "k", "x"], *([row.split(",") for row in csv(number).split("\n")[1:]] for number in range(3))]
        lines = [f'{{"ts": "{at}", "k": "{k}", "x": {x}}}' for part in keys[1:] for at, k, x in part]
        texts = {f"below/{number}.json": line for number, line in enumerate(lines)}
    world = source_world(tmp_path, texts, sql, options, format)
    assert world.differences(spark, ["auto"]) == {}
    assert any(f"'{key}'" in row or f"'k': {key}," in row for row in world.rows(spark, "total", "auto"))


@pytest.mark.parametrize(
    ("format", "options", "said"),
    [
        ("parquet", {"header": "true"}, "option 'header' is refused"),
        ("parquet", {"schema": "x INT"}, "option 'schema' is refused"),
        ("json", {"sep": ";"}, "option 'sep' is refused"),
        ("csv", {"mode": "DROPMALFORMED"}, "mode: 'DROPMALFORMED' is refused"),
        ("csv", {"schema": "x INT) USING x ("}, "is no list of columns"),
        ("csv", {"multiLine": "yes"}, "neither true nor false"),
        ("parquet", {"modifiedAfter": "yesterday"}, "modifiedAfter: 'yesterday' is no time"),
        ("parquet", {"pathGlobFilter": "a["}, "is no pattern of file names"),
        ("parquet", {"maxFilesPerTrigger": "0"}, "is no number of files"),
    ],
)
def test_what_has_no_effect_is_refused(tmp_path: Path, format: str, options: dict[str, str], said: str) -> None:
    with pytest.raises(CatalogError, match=said) as refused:
        source_world(tmp_path, {}, TOTAL, options, format)
    assert [problem.query for problem in refused.value.problems if said in str(problem)] == [STREAM]


def test_every_option_has_a_test_here() -> None:
    from optimizer.catalog.read import source_options

    text = Path(__file__).read_text(encoding="utf-8")
    native = {
        "encoding",
        "dateFormat",
        "timestampFormat",
        "timestampNTZFormat",
        "delimiter",
        "quote",
        "escape",
        "comment",
    }
    native |= {
        "nullValue",
        "nanValue",
        "positiveInf",
        "negativeInf",
        "ignoreLeadingWhiteSpace",
        "ignoreTrailingWhiteSpace",
    }
    listed = {option for name in source_options.FILE_FORMATS for option in source_options.OPTIONS[name]}
    assert {option for option in listed - native if f'"{option}"' not in text} == set()


FOLDERS = {
    "day=2024-01-31/n=1/x=5/s=a%2Fb": 0,
    "day=2024-01-31/n=__HIVE_DEFAULT_PARTITION__/x=7/s=ü b": 1,
    "day=2024-02-01/n=3000000000/x=5/s=__HIVE_DEFAULT_PARTITION__": 2,
}
BY_FOLDER = {
    "days": f"SELECT day, window, sum(x) AS x, count(n) AS n FROM {STREAM} GROUP BY day, {WINDOW}",
    "texts": f"SELECT s, n, window, max(day) AS d FROM {STREAM} WHERE n > 0 OR s = 'ü b' GROUP BY s, n, {WINDOW}",
    "middle": f"SELECT n, window, median(x) AS middle FROM {STREAM} WHERE day < '2024-02-01' GROUP BY n, {WINDOW}",
}


def test_columns_of_folders(spark: SparkSession, tmp_path: Path) -> None:
    """Grouped by, filtered and aggregated; x is in the files, too, and k is not in the folders."""
    files = {f"{folder}/p*{number}.parquet": table(number) for folder, number in FOLDERS.items()}
    world = source_world(tmp_path, files, BY_FOLDER)
    assert world.differences(spark, ALL_LANES) == {}
    assert world.audit(spark, "auto")
    recent = recent_keys(world.catalog, STREAM, [("s", "n")])
    assert recent is not None
    assert recent.keys(("s", "n"), 100 * SECOND) == len(FOLDERS)


TYPES = [
    ["1", "-02"], ["1", "3000000000"], ["1", "1.5"], ["3000000000", "1.5"], ["1", "a"], ["2024-01-31"], ["2024-01"],
    ["2024-01-31", "1"], ["2024-02-30"], ["true"], ["1_0"], ["%31"], ["3f2a"], ["a=b", "a%3Db"], ["NaN", ".5"], ["+5"],
    ["1e3"], ["1."], ["99999999999999999999"], ["1d"], ["2024-01-31 10%3A00%3A00"], ["__HIVE_DEFAULT_PARTITION__"],
    ["1 "], ["12345-01-01"],
]  # fmt: skip


def test_types_of_folders(spark: SparkSession, tmp_path: Path) -> None:
    """Every type and value is as Spark infers it from all folders, or left to Spark."""
    by_spark = []
    for number, values in enumerate(TYPES):
        for value in values:
            (tmp_path / f"{number}" / f"k={value}").mkdir(parents=True)
            (tmp_path / f"{number}" / f"k={value}" / "a.csv").write_text("1")
        found = spark.read.csv(str(tmp_path / f"{number}"))
        kind = folder_type(values)
        if kind == BY_SPARK:
            by_spark.append(values)
            continue
        assert kind == found.schema["k"].dataType.simpleString(), values
        ours = [repr(folder_value(value, kind)) for value in values]
        assert sorted(ours) == sorted(repr(row.k) for row in found.collect())
    assert len(by_spark) == 7


@pytest.mark.parametrize(
    "names",
    [["k=1/a", "b"], ["k=1/a", "k=1/j=2/b"], ["k=1/a", "j=1/b"], ["k=1/a", "K=2/b"], ["k=/a"], ["in/k=1/a", "k=1/b"]],
)
def test_folders_that_do_not_fit_are_refused(spark: SparkSession, tmp_path: Path, names: list[str]) -> None:
    """Spark refuses them, or leaves some files out without a word."""
    world = source_world(tmp_path, {f"{name}.parquet": table(n) for n, name in enumerate(names)}, BY_FOLDER)
    with pytest.raises(HeddleError, match=r"do not name the same columns|is no column and value"):
        world.run(spark, "local")


def test_folders_whose_type_only_spark_reads(spark: SparkSession, tmp_path: Path) -> None:
    files = {f"k={1 + number}e1/at=2024-01-31 1{number}%3A00%3A00/a.parquet": table(number) for number in range(2)}
    sql = {"total": f"SELECT k, at, window, sum(x) AS x FROM {STREAM} GROUP BY k, at, {WINDOW}", **OTHER}
    world = source_world(tmp_path, files, sql)
    assert world.differences(spark, ["auto"]) == {}
    assert recent_on_spark(lambda: spark, world.catalog, STREAM) is not None
    with pytest.raises(HeddleError, match="leave out --local"):
        world.run(spark, "local")


OTHER = {"plain": f"SELECT window, sum(x) AS x FROM {STREAM} GROUP BY {WINDOW}"}
