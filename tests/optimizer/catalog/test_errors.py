"""Every mistake at once, one line each, on the line it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.catalog.read.load import load_catalog
from optimizer.errors import CatalogError
from tests.optimizer.catalog.catalogs import STREAMS, write

SPOILED = """queries:
  - {id: Bad, stream: vibration, select: max(x), range: 1 minute}
  - {id: b1, stream: vibratio, select: max(x), range: 1 minute}
  - {id: b2, stream: vibration, selct: max(x), range: 1 minute}
  - id: b3
    stream: vibration
    select: maxx(x)
    range: 1 minute
  - id: b4
    stream: vibration
    select: max(x)
    where: rand() > 1
    range: 1 minute
  - 5
  - {id: b5, sql: SELECT 1}
  - {id: b6, stream: vibration, select: max(x), range: [1]}
  - {id: b7, stream: vibration, select: max(x), range: 1 minute, slide: 5 minutes}
  - {id: b8, stream: vibration, select: max(x), range: 1 month}
  - {id: b9, stream: vibration, select: max(x), range: 1 minit}
  - {id: b10, stream: vibration, select: max(x), range: 10 rows, slide: 1 second}
  - {id: b11, stream: vibration, select: "max(x, y)", range: 1 minute}
  - {id: b12, stream: vibration, select: [max(x), max(x)], range: 1 minute}
  - {id: b13, stream: vibration, select: max(x), group_by: [x + 1], range: 1 minute}
  - {id: b14, stream: vibration, select: max(x), group_by: [b14], range: 1 minute}
"""
FOUND = [
    (2, "'Bad'", "id", "small letter"),
    (3, "b1", "stream", "did you mean vibration?"),
    (4, "b2", "selct", "did you mean select?"),
    (4, "b2", "select", "missing"),
    (7, "b3", "select", "did you mean max?"),
    (12, "b4", "where", "rand"),
    (14, "", "", "not a query"),
    (15, "b5", "sql", "FROM"),
    (16, "b6", "range", "write a text"),
    (17, "b7", "slide", "shorter than the slide"),
    (18, "b8", "range", "no fixed length"),
    (19, "b9", "range", "did you mean min"),
    (20, "b10", "slide", "mixed"),
    (21, "b11", "select", "it takes 1"),
    (22, "b12", "", "two columns"),
    (23, "b13", "group_by", "not a column"),
    (24, "b14", "group_by", "rename"),
]


def test_all_problems_at_once_each_on_its_line(tmp_path: Path) -> None:
    with pytest.raises(CatalogError) as refused:
        load_catalog(write(tmp_path, {"streams.yaml": STREAMS, "spoiled.yaml": SPOILED}))
    problems = refused.value.problems
    assert [(problem.line, problem.query, problem.field) for problem in problems] == [found[:3] for found in FOUND]
    for problem, (*_, said) in zip(problems, FOUND, strict=True):
        assert said in str(problem)
        assert str(problem).startswith(f"spoiled.yaml:{problem.line}: ")


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT max(x) FROM vibration", "no GROUP BY"),
        ("SELECT max(x) FROM vibration GROUP BY machine", "0 windows"),
        ("SELECT max(x) FROM nowhere GROUP BY window(ts, '1 minute')", "no stream 'nowhere'"),
        ("SELECT max(x) FROM vibration GROUP BY window(tz, '1 minute')", "the time column of vibration is 'ts'"),
        ("SELECT label, max(x) FROM vibration GROUP BY window(ts, '1 minute')", "not grouped by"),
        ("SELECT window FROM vibration GROUP BY window(ts, '1 minute')", "no aggregate"),
        ("SELECT max(x) FROM vibration GROUP BY window(ts, '1 minute') ORDER BY 1", "ORDER is refused"),
        ("SELECT max(x) FROM vibration GROUP BY window(ts, '1 minute') LIMIT 1", "LIMIT is refused"),
        ("SELECT DISTINCT max(x) FROM vibration GROUP BY window(ts, '1 minute')", "DISTINCT is refused"),
        ("SELECT max(x) FROM vibration GROUP BY window(ts, '1 minute') HAVING min(x) > 1", "is not selected"),
        ("SELECT max(x) + 1 FROM vibration GROUP BY window(ts, '1 minute')", "not an aggregate"),
        ("SELECT sum(max(x)) FROM vibration GROUP BY window(ts, '1 minute')", "inside an expression"),
        ("SELECT first(x) FILTER (WHERE y) FROM vibration GROUP BY window(ts, '1 minute')", "FILTER"),
        ("SELECT max(x) FROM vibration GROUP BY ROLLUP(machine), window(ts, '1 minute')", "refused"),
        ("SELECT max(x) FROM (SELECT * FROM vibration) GROUP BY window(ts, '1 minute')", "FROM does not name"),
        ("SELECT max(x) FROM db.vibration GROUP BY window(ts, '1 minute')", "is not a stream"),
        ("SELECT max(x) FROM vibration GROUP BY window(ts, '1 minute', '2 minutes')", "shorter than the slide"),
        ("SELECT window.middle, max(x) FROM vibration GROUP BY window(ts, '1 minute')", "window.start"),
        ("SELECT max(x) FROM vibration GROUP BY session_window(ts, '1 minute')", "GROUP BY"),
        ("", "empty"),
    ],
)
def test_what_is_wrong_with_a_statement(sql: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"q\.sql:1: q: ") as refused:
        load_catalog(write(tmp_path, {"streams.yaml": STREAMS, "q.sql": sql}))
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        ("{source: {path: ../../../../../../etc}, time: ts}", "outside the allowed folders"),
        ("{source: {path: /etc}, time: ts}", "HEDDLE_ROOTS"),
        ("{source: {path: 'file:///etc'}, time: ts}", "outside the allowed folders"),
        ("{source: {path: 'http://host/x'}, time: ts}", "scheme 'http' is refused"),
        ("{source: {path: 's3a://key:secret@bucket/x'}, time: ts}", "password"),
        ("{source: {path: data, format: jdbc}, time: ts}", "no format 'jdbc'"),
        ("{source: {path: data, options: {url: x}}, time: ts}", "option 'url' is refused"),
        ("{source: {path: data, sql: SELECT 1}, time: ts}", "either a path or sql"),
        ("{source: {sql: SELECT * FROM a}, time: ts}", "reads from itself"),
        ("{source: {sql: SELECT * FROM vibratio}, time: ts}", "did you mean vibration?"),
        ("{source: {sql: 'SELECT reflect(1) FROM vibration'}, time: ts}", "reflect"),
        ("{source: {sql: 'SELECT * FROM parquet.`/etc/x`'}, time: ts}", "is refused"),
        ("{source: {sql: 'SELECT * FROM (SELECT 1)'}, time: ts}", "subquery"),
        ("{source: {path: data}, time: ts, lateness: -5 seconds}", "0 seconds or more"),
        ("{source: {path: data}, time: ts, zone: Europe/Berln}", "no time zone 'Europe/Berln'"),
        ("{source: {path: data}, time: ts, zone: CET}", "write UTC, or a region and a city: Europe/Berlin"),
        ("{source: {path: data}, time: x + 1}", "not a column"),
        ("{source: {path: data}}", "time is missing"),
    ],
)
def test_what_is_wrong_with_a_stream(stream: str, said: str, tmp_path: Path) -> None:
    text = f"streams:\n  vibration: {{source: {{path: v}}, time: ts}}\n  a: {stream}\n"
    with pytest.raises(CatalogError) as refused:
        load_catalog(write(tmp_path, {"streams.yaml": text}))
    assert said in str(refused.value)
    assert [problem.line for problem in refused.value.problems] == [3]


def test_a_refused_stream_is_the_only_mistake(tmp_path: Path) -> None:
    query = "queries: [{id: q, stream: vibration, select: max(x), range: 1 minute}]"
    stream = "streams: {vibration: {source: {format: parquet, path: /etc}, time: ts, lateness: 0 seconds}}"
    bulk = "id,stream,select,range\nr,vibration,max(x),1 minute\n"
    with pytest.raises(CatalogError) as refused:
        load_catalog(write(tmp_path, {"catalog.yaml": f"{stream}\n{query}\n", "more.csv": bulk}))
    (line,) = str(refused.value).splitlines()
    assert "vibration: source: '/etc' is outside" in line


def test_roots_can_be_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path, {"a.yaml": f"streams: {{a: {{source: {{path: {tmp_path}/data}}, time: ts}}}}"})
    assert load_catalog(folder).streams["a"].path == str(tmp_path / "data")
    monkeypatch.setenv("HEDDLE_ROOTS", str(tmp_path / "elsewhere"))
    with pytest.raises(CatalogError, match="outside the allowed folders"):
        load_catalog(folder)


def test_no_catalog_there(tmp_path: Path) -> None:
    for place in (tmp_path / "none", tmp_path, "\0"):
        with pytest.raises(CatalogError):
            load_catalog(place)
