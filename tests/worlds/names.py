"""A stream whose columns may have any names: those that mean something to SQL, to Arrow, to Spark or to this engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.sql.expressions import quote
from tests.worlds.streams import SECOND, odd_row, table_of
from tests.worlds.warehouse import STREAM, World, add_batch

COLUMNS = ("ts", "k", "i", "d", "n", "m", "s", "b")
ODD_NAMES = [
    *("a b", "a,b", "a", "b", "a.b", "a`b", "`", "``", "'", '"', "it's", "a|b", "a=b", "a;b", "a/b", "a\\b"),
    *(
        "é",
        "日本",
        "\U0001f600",
        " ",
        " a ",
        "1",
        "-1",
        "1e5",
        "*",
        ".",
        ",",
        "()",
        "#",
        "{x}",
        "%s",
        "a\tb",
        "x" * 128,
    ),
    *("x + y", "n > 1", "sum(n)", "count(*)", "sum(n) where n > 1", "a AS b", "a, b", "`a`", "-- a", "/* a */"),
    *("select", "from", "where", "true", "NULL", "group", "timestamp", "interval", "case", "order by ts"),
    *("__time__", "__p0", "__v0", "__all__", "__signature__", "__file__", "__position__", "key __all__", "key k"),
    *("__start", "__events", "__latest", "__late", "__k0", "__s0", "__m0_0", "__moment", "__c0", "k0", "c0", "v0"),
    *("start", "end", "value", "query", "batch", "count", "complete", "file", "place", "path", "late"),
    *("window", "window.start", "windows_missed", "watermark", "value int64", "has q", "answer q"),
    *("_row", "_rows", "_k", "heddle time", "heddle statement", "heddle from", "heddle to", "arrival", "by", "event"),
    *("slice_start", "count_1", "sum_2", "events_t1", "rows sum(n) 0", "order max(s)", "events"),
    *(".a", ".k", "[0]", "a_b", "key 0", "window_start", "place of row"),  # to Arrow, a dot in front begins a path
]
# columns that are called like an expression over others, and like two others together
CALLED_LIKE_OTHERS: list[dict[str, str]] = [
    {"k": "x + y", "n": "x", "m": "y"},
    {"s": "n + m", "k": "n > 1"},
    {"k": "a,b", "i": "a", "d": "b", "b": "c"},
    {"k": "__all__", "i": "__signature__", "d": "__p0", "n": "__v0", "m": "__time__", "ts": "__v1"},
    {"n": "__c0", "m": "__c1", "k": "__v0", "b": "__p0"},
    {"k": "batch", "n": "watermark", "m": "windows_missed", "ts": "start"},
    {"n": "window", "k": "window.start", "i": "window_start"},
]
LENGTHS = {"range": "4 seconds", "slide": "2 seconds"}
QUERIES = [
    {"id": "window_start", "select": "sum({n})", "group_by": ["{k}"], **LENGTHS},
    {"id": "everything", "select": ["count(*) AS c", "max({s}) AS top"], "where": "{n} > 1", **LENGTHS},
    {"id": "summed", "select": "sum({n} + {m})", "group_by": ["{i}", "{d}"], **LENGTHS},
    {"id": "by_both", "select": "max_by({s}, {n})", "group_by": ["{k}", "{i}"], "where": "{b}", **LENGTHS},
    {"id": "filtered", "select": "count({n}) FILTER (WHERE {m} < 0)", "group_by": ["{k}"], "where": "{b}", **LENGTHS},
    {"id": "sketched", "select": "approx_count_distinct({s})", "group_by": ["{d}"], **LENGTHS},
    {"id": "rows_of", "select": "sum({m})", "group_by": ["{k}"], "range": "3 rows", "slide": "1 row"},
    {"id": "all_rows", "select": ["max({n})", "last({s}) AS newest"], "where": "{n} > 1", "range": "4 rows"},
]
UNSHARED = {"id": "listed", "select": "median({n})", "group_by": ["{k}"], "where": "{m} < 0", **LENGTHS}


def named_world(folder: Path, names: Mapping[str, str], unshared: bool = False) -> World:
    """Write three batches, the last with late events, whose columns have these names, and queries over them."""
    names = {name: name for name in COLUMNS} | dict(names)
    texts = {name: quote(text) for name, text in names.items()}
    (folder / "catalog").mkdir(parents=True)
    (folder / "data").mkdir()
    source = {"format": "parquet", "path": str(folder / "data")}
    stream = {"source": source, "time": texts["ts"], "lateness": "1 second"}
    queries = [{"stream": STREAM, **_named(entry, texts)} for entry in (*QUERIES, *([UNSHARED] if unshared else []))]
    document = {"streams": {STREAM: stream}, "queries": queries}
    (folder / "catalog" / "catalog.yaml").write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    for number, first in enumerate((0, 8, 3)):
        rows = [odd_row((first * 4 + code) * SECOND // 4, 100 * number + code) for code in range(40)]
        table = table_of(rows).select(list(COLUMNS))
        add_batch(folder, number, table.rename_columns([names[name] for name in COLUMNS]))
    return World(folder, load_catalog(folder / "catalog"))


def _named(entry: Mapping[str, object], texts: Mapping[str, str]) -> dict[str, object]:
    """Return a query with the names of the columns in their places; no name is looked at twice."""

    def fill(text: str) -> str:
        for name in COLUMNS:
            text = text.replace(f"{{{name}}}", f"\x00{name}\x00")
        for name in COLUMNS:
            text = text.replace(f"\x00{name}\x00", texts[name])
        return text

    filled: dict[str, object] = {}
    for field, value in entry.items():
        filled[field] = [fill(text) for text in value] if isinstance(value, list) else fill(str(value))
    return filled
