"""`expect:` on streams and queries: what is understood, what is refused in one line, and what is written back."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.write import print_catalog
from optimizer.errors import CatalogError
from tests.optimizer.catalog.catalogs import write

CATALOG = """streams:
  s:
    source: {{path: data}}
    time: ts
{stream}
queries:
  - id: q
    stream: s
    select: [max(x) AS high, min(x) AS low]
    range: 1 minute
{query}
"""
ALL = """    expect:
      - {column: x, nulls: 0.01}
      - {column: x, range: [0, null], severity: warning}
      - {column: k, set: [a, "1"]}
      - {volume: [10, 2000]}
      - {freshness: 90 minutes}
"""
OF_QUERY = """    expect:
      - {range: [-5, 5.5]}
      - {column: high, change: 0.5, severity: warning}
"""


def catalog_text(stream: str = "", query: str = "") -> str:
    return CATALOG.format(stream=stream, query=query)


def test_expectations_are_read_and_written_back_and_change_no_plan(tmp_path: Path) -> None:
    catalog = load_catalog(write(tmp_path, {"c.yaml": catalog_text(ALL, OF_QUERY)}))
    assert [each.text for each in catalog.streams["s"].expect] == [
        "x is null in at most 0.01 of the events",
        "x is 0 or more",
        "k is one of a, 1",
        "the events of a batch are 10 to 2000",
        "the newest event is at most 90 minutes old",
    ]
    assert [(each.text, each.severity) for each in catalog.expect["q"]] == [
        ("an answer is -5 to 5.5", "critical"),
        ("high differs by at most 0.5 of itself from the window before", "warning"),
    ]
    again = load_catalog(write(tmp_path, print_catalog(catalog)))
    assert again.expect == catalog.expect
    assert again.streams["s"].expect == catalog.streams["s"].expect
    plain = load_catalog(write(tmp_path, {"c.yaml": catalog_text()}))
    assert plain.fingerprint("s") == catalog.fingerprint("s")


@pytest.mark.parametrize(
    ("stream", "query", "wrong"),
    [
        ("[{column: x, nulls: 2}]", "", "write a share from 0 to 1"),
        ("[{column: x, range: [3, 1]}]", "", "holds always or never"),
        ("[{column: x, range: [null, null]}]", "", "holds always or never"),
        ("[{column: x, range: 3}]", "", "write [lowest, highest]"),
        ("[{column: x, range: [low, 1]}]", "", "write [lowest, highest]"),
        ("[{column: x, set: []}]", "", "write a list of texts"),
        ("[{range: [0, 1]}]", "", "range needs a column"),
        ("[{column: x, volume: [0, 1]}]", "", "volume needs no column"),
        ("[{freshness: soon}]", "", "soon"),
        ("[{freshness: 0 seconds}]", "", "write a duration"),
        ("[{column: x, nulls: 0, severity: fatal}]", "", "write critical or warning"),
        ("[{column: x, null: 0}]", "", "did you mean nulls?"),
        ("[{column: x, nulls: 0, range: [0, 1]}]", "", "write one of"),
        ("[{column: x}]", "", "expects nothing"),
        ("[often]", "", "is no expectation"),
        ("often", "", "is refused"),
        ("", "[{freshness: 1 hour}]", "there is no field 'freshness'"),
        ("", "[{column: hihg, range: [0, 1]}]", "did you mean high?"),
        ("", "[{change: -1}]", "write a share of 0 or more"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(tmp_path: Path, stream: str, query: str, wrong: str) -> None:
    fields = {"stream": f"    expect: {stream}" if stream else "", "query": f"    expect: {query}" if query else ""}
    with pytest.raises(CatalogError) as error:
        load_catalog(write(tmp_path, {"c.yaml": catalog_text(**fields)}))
    (line,) = str(error.value).splitlines()
    assert wrong in line
    assert "c.yaml:" in line
    assert "expect" in line
