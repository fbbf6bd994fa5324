"""Nothing a catalog holds makes a traceback, and nothing dangerous is ever accepted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.read.streams import roots
from optimizer.catalog.sql.expressions import expression
from optimizer.catalog.sql.grammar import FUNCTIONS
from optimizer.errors import CatalogError, Mistake
from tests.optimizer.catalog.catalogs import write
from tests.optimizer.catalog.mutations import BASE, HOSTILE, mutate

CATALOGS = 5_000
PARTS = 10
WORDS = {"and", "or", "not", "in", "cast", "try_cast", "when", "then", "else", "case", "like", "between", "is", "as"}
WORDS |= {"decimal", "on", "where", "distinct", "from"}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_mutated_catalogs_are_refused_in_lines_or_harmless(part: int, tmp_path: Path) -> None:
    accepted = 0
    for seed in range(part, CATALOGS, PARTS):
        folder = write_bytes(tmp_path, mutate(seed))
        try:
            catalog = load_catalog(folder)
        except CatalogError as error:
            assert_lines(error, seed)
        else:
            accepted += 1
            assert_harmless(catalog, tmp_path)
    assert accepted < CATALOGS / PARTS / 2, "mutations that change nothing test nothing"


@pytest.mark.parametrize("name", ["vibr$ation", "$vibration", "vibration$", "a.vibr$ation", "vibration AS a$b"])
def test_a_stream_that_reads_from_an_odd_name_is_refused_in_a_line(name: str, tmp_path: Path) -> None:
    folder = write_bytes(tmp_path, BASE.replace("FROM vibration WHERE x > 0", f"FROM {name} WHERE x > 0"))
    with pytest.raises(CatalogError) as error:
        load_catalog(folder)
    assert_lines(error.value, 0)


def write_bytes(folder: Path, text: str) -> Path:
    catalog = write(folder, {})
    (catalog / "catalog.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    return catalog


def assert_lines(error: CatalogError, seed: int) -> None:
    assert error.problems, seed
    for problem in error.problems:
        assert len(str(problem).splitlines()) == 1, (seed, str(problem))
        assert problem.file, seed
        assert problem.wrong, seed
        assert problem.right, seed


def assert_harmless(catalog: Catalog, folder: Path) -> None:
    for query in catalog.queries:
        for text in (*query.arguments, query.where):
            assert_only_allowed(text)
    for stream in catalog.streams.values():
        assert_only_allowed(stream.sql)
        assert stream.sql or any(Path(stream.path).is_relative_to(root) for root in roots(folder / "catalog"))
    for statement in catalog.statements.values():
        assert_one_select(statement.sql)


def assert_only_allowed(text: str) -> None:
    """An own look at the text, apart from the tree that allowed it: every name before a bracket is on the list."""
    bare = re.sub(r"'(?:[^'\\]|\\.)*'|`[^`]*`", "", text)
    called = {name.lower() for name in re.findall(r"(\w+)\s*\(", bare)}
    assert called <= set(FUNCTIONS) | WORDS, text
    assert not re.search(r"\bover\b|--|/\*|;|\$\{|->|\b_metadata\b|\bcurrent_", bare, re.IGNORECASE), text
    assert len(re.findall(r"\bselect\b", bare, re.IGNORECASE)) <= 1, text


def assert_one_select(sql: str) -> None:
    bare = re.sub(r"'(?:[^'\\]|\\.)*'|`[^`]*`", "", sql)
    assert not re.search(r"--|/\*|;|\$\{|\b(reflect|java_method|rand|uuid|union|join)\b", bare, re.IGNORECASE), sql


@pytest.mark.parametrize("text", HOSTILE)
def test_every_hostile_text_is_refused_wherever_it_stands(text: str, tmp_path: Path) -> None:
    with pytest.raises(Mistake) as refused:
        expression(text)
    assert refused.value.wrong
    assert refused.value.right
    assert len(refused.value.wrong.splitlines()) == 1
    for old in ("max(x), where", "label = 'good'", "SELECT machine, window, avg(x)"):
        spoiled = BASE.replace(old, old.replace("max(x)", _yaml(text)) if "max(x)" in old else _inside(old, text))
        with pytest.raises(CatalogError):
            load_catalog(write_bytes(tmp_path, spoiled))


def _yaml(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\x00", "\\0") + '"'


def _inside(old: str, text: str) -> str:
    return _yaml(text)[1:-1] if old.startswith("label") else f"SELECT machine, window, {text}"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("reflect('a')", "reflect"),
        ("java_method('a')", "java_method"),
        ("x IN (SELECT 1)", "subquery"),
        ("sum(x) OVER ()", "OVER"),
        ("my_udf(x)", "my_udf"),
        ("input_file_name()", "input_file_name"),
        ("rand()", "rand"),
        ("x -- y", "comment"),
        ("x /* y */", "comment"),
        ("x; y", "statement"),
    ],
)
def test_the_message_names_what_is_refused(text: str, named: str) -> None:
    with pytest.raises(Mistake, match=named):
        expression(text)


@pytest.mark.parametrize(
    "text",
    [
        "a: &x 1\nb: *x",
        "a: &a [x]\n" + "".join(f"b{i}: &b{i} [*a, *a]\n" for i in range(30)),
        "queries: !!python/object/apply:os.system ['true']",
        "streams: {}\nstreams: {}",
        "- 1\n- 2",
        "just a text",
        "---\na: 1\n---\nb: 2",
        "? [a, b]\n: 1",
        "[" * 300_000,
        "- " * 300_000,
        "{a: " * 300_000,
        "\x00",
        "a: \t b: c:",
    ],
)
def test_odd_yaml_is_one_line(text: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError) as refused:
        load_catalog(write_bytes(tmp_path, text))
    assert len(str(refused.value).splitlines()) == 1


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    folder = write(tmp_path, {})
    for name in ("a.yaml", "b.sql", "c.parquet", "d.csv"):
        (folder / name).write_bytes(b"\xff\xfe\x00\x80" * 10)
    with pytest.raises(CatalogError) as refused:
        load_catalog(folder)
    assert {problem.file for problem in refused.value.problems} == {"a.yaml", "b.sql", "c.parquet", "d.csv"}
