"""`heddle evaluate` and `heddle results`, without Spark: what they print, and one line for every mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import yaml
from typer.testing import CliRunner

from heddle.main import app
from optimizer.errors import HeddleError
from tests.worlds.readings import STREAM, Readings, make_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Readings:
    made = make_world(tmp_path_factory.mktemp("commands"))
    made.arrive(0, 1, 2)
    return made


def run(*arguments: object) -> Any:
    """What a command prints."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception:
        raise result.exception
    return result


def evaluate(world: Readings, *more: object, warehouse: str = "warehouse") -> Any:
    catalog, target = world.folder / "catalog", world.warehouse(warehouse)
    return run("evaluate", catalog, "--stream", STREAM, "--warehouse", target, "--local", *more)


def results(world: Readings, query: str, *more: object) -> Any:
    return run("results", world.folder / "catalog", query, "--warehouse", world.warehouse("warehouse"), *more)


def test_evaluate_then_look(world: Readings) -> None:
    said = evaluate(world, "--files-per-batch", 1)
    assert "planned readings by cascade at" in said.stderr
    assert "batch 2: 600 events" in said.stderr
    assert "1,800 events in 3 batches" in said.stdout
    assert f"Next: heddle results {world.folder}/catalog QUERY" in said.stdout.replace("\n", "")
    assert "the last 20 of" in results(world, "total").stdout
    rows = json.loads(results(world, "both", "--json").stdout)
    assert list(rows[0]) == ["window", "top", "n"]
    assert json.loads(results(world, "both_n", "--json", "--limit", 2).stdout) == rows[-2:]

    assert f"{STREAM}: nothing new has arrived" in evaluate(world).stdout
    again = json.loads(evaluate(world, "--json").stdout)
    assert (again["batches"], again["events"], again["results"]) == (0, 0, 0)


def test_the_report(world: Readings) -> None:
    report = json.loads(evaluate(world, "--json", warehouse="report").stdout)
    wanted = "batches events results late wall_seconds cpu_seconds estimated_cost step_seconds trees lane"
    assert set(wanted.split()) <= set(report)
    assert (report["batches"], report["events"], report["lane"]) == (1, 1800, "file")
    assert {"read", "feed", "exchange", "finals", "write"} <= set(report["step_seconds"])
    for tree in report["trees"].values():
        assert tree["operations"] > 0
        assert tree["estimated_operations"] > 0


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".json"])
def test_export(world: Readings, tmp_path: Path, suffix: str) -> None:
    evaluate(world)
    out = tmp_path / f"total{suffix}"
    assert f"rows in {out}" in results(world, "total", "--out", out).stderr.replace("\n", "")
    rows = json.loads(results(world, "total", "--json").stdout)
    if suffix == ".parquet":
        assert pq.read_schema(out).names == ["k", "window", "sum(x)"]
        assert pq.read_table(out).num_rows == len(rows)
    elif suffix == ".csv":
        table = pyarrow.csv.read_csv(out)
        assert table.column_names == ["k", "window.start", "window.end", "sum(x)"]
        assert table["sum(x)"].to_pylist() == [row["sum(x)"] for row in rows]
    else:
        assert [json.loads(line) for line in out.read_text().splitlines()] == rows


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("results", "{catalog}", "totl", "--warehouse", "{new}"), "there is no query 'totl'.*did you mean total"),
        (("results", "{catalog}", "total", "--warehouse", "{new}"), "not been evaluated .* run heddle evaluate"),
        (("results", "{catalog}", "total", "--warehouse", "{new}", "--out", "x.txt"), "x.txt: .* end it in .parquet"),
        (("evaluate", "{catalog}", "--stream", "no", "--warehouse", "{new}", "--local"), "no: .*no such stream"),
        (("evaluate", "{catalog}", "--stream", STREAM, "--warehouse", "{new}", "--local", "--lane", "x"), "no lane"),
        (("evaluate", "{catalog}", "--stream", STREAM, "--warehouse", "{new}", "--local", "--plan", "x"), "x: cannot"),
        (
            ("evaluate", "{catalog}", "--stream", STREAM, "--warehouse", "{new}", "--local", "--interval", "1 second"),
            "--interval needs Spark",
        ),
        (("evaluate", "{catalog}", "--stream", STREAM, "--warehouse", "/proc/no", "--local"), "cannot be written"),
    ],
)
def test_mistakes(world: Readings, arguments: tuple[str, ...], line: str) -> None:
    words = {"catalog": world.folder / "catalog", "new": world.warehouse("new")}
    with pytest.raises(HeddleError, match=line) as caught:
        run(*(argument.format(**words) for argument in arguments))
    assert "\n" not in str(caught.value)


def test_a_plan_of_another_catalog(world: Readings, tmp_path: Path) -> None:
    other = make_world(tmp_path)
    document = (tmp_path / "catalog" / "catalog.yaml").read_text().replace("20 seconds", "25 seconds")
    (tmp_path / "catalog" / "catalog.yaml").write_text(document)
    (tmp_path / "plan.json").write_text(other.plan.to_json())
    with pytest.raises(HeddleError, match="was made for another catalog"):
        evaluate(other, "--plan", tmp_path / "plan.json")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--warehouse", ""), "--warehouse is empty"),
        (("--lane", "frame", "--local"), "--lane frame needs Spark"),
        (("--interval", "10 parsecs"), "--interval: there is no unit 'parsecs'"),
        (("--interval", "-1 second"), "goes back in time"),
        (("--master", "nonsense"), "use local[*], spark://HOST:PORT"),
    ],
)
def test_what_cannot_be_run(world: Readings, options: tuple[str, ...], line: str) -> None:
    with pytest.raises(HeddleError) as refused:
        run("evaluate", world.folder / "catalog", "--stream", STREAM, "--warehouse", world.folder / "none", *options)
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (world.folder / "none").exists()


@pytest.mark.parametrize("text", [b"\xb9\xff", b"[]", b"{}", b"{"])
def test_what_is_no_plan(world: Readings, tmp_path: Path, text: bytes) -> None:
    (tmp_path / "plan.json").write_bytes(text)
    with pytest.raises(HeddleError, match=r"plan[.]json: .*not a plan.*; write one with heddle plan --out FILE$"):
        evaluate(world, "--plan", tmp_path / "plan.json", warehouse="none")


@pytest.mark.parametrize(
    ("time", "line"), [("nots", "have no column nots; mend `time`"), ("name", "is a string; it must be a timestamp")]
)
def test_a_time_that_is_none(tmp_path: Path, time: str, line: str) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "catalog").mkdir()
    pq.write_table(pa.table({"name": ["a"], "x": [1.0]}), tmp_path / "data" / "a.parquet")
    source = {"source": {"format": "parquet", "path": str(tmp_path / "data")}, "time": time}
    query = {"id": "q", "stream": "s", "select": "max(x)", "range": "1 minute"}
    (tmp_path / "catalog" / "c.yaml").write_text(yaml.safe_dump({"streams": {"s": source}, "queries": [query]}))
    with pytest.raises(HeddleError) as refused:
        run("evaluate", tmp_path / "catalog", "--stream", "s", "--warehouse", tmp_path / "warehouse", "--local")
    assert line in str(refused.value)


def test_a_folder_of_events_that_is_not_there_starts_no_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.spark.session.spark_session", lambda *_: pytest.fail("Spark was started"))
    source = {"source": {"format": "parquet", "path": str(tmp_path / "gone")}, "time": "ts"}
    query = {"id": "q", "stream": "s", "select": "max(x)", "range": "1 minute"}
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "c.yaml").write_text(yaml.safe_dump({"streams": {"s": source}, "queries": [query]}))
    with pytest.raises(HeddleError, match="gone: there is no such folder; create it or mend `path`"):
        run("evaluate", tmp_path / "catalog", "--stream", "s", "--warehouse", tmp_path / "warehouse")
    assert not (tmp_path / "warehouse").exists()
    monkeypatch.setenv("HEDDLE_HOME", str(tmp_path / "home"))
    with pytest.raises(HeddleError, match="gone: there is no such folder"):
        run("evaluate", tmp_path / "catalog", "--stream", "s", "--warehouse", tmp_path / "warehouse", "--champion")
    assert not (tmp_path / "home").exists()  # no plan was put in force for events that nobody has seen


def test_few_events_take_no_spark_where_none_is_named(world: Readings, tmp_path: Path) -> None:
    asked = ("evaluate", world.folder / "catalog", "--stream", STREAM, "--warehouse", tmp_path / "few")
    said = run(*asked)
    assert "events are few: in this process, without Spark" in said.stderr
    assert "in this process, as this warehouse was begun" in run(*asked).stderr
