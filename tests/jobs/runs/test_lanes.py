"""Which lane every query is expected to take, before any run, and whether Spark has work of its own."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from heddle.main import app
from jobs.runs.lanes import UNSHARED, expected_rows, lane_lines, spark_has_work
from jobs.runs.request import Options, Request, evaluate_request
from tests.worlds.streams import SECOND, odd_row
from tests.worlds.warehouse import STREAM, make_world, query

PLAIN = query("plain", "sum(i)", SECOND)
ODD = query("odd", "count(*)", SECOND, where="sin(i) > 0")  # the last digit of a sine is Java's, and decides
MIDDLE = query("middle", "percentile(i, 0.5, 2)", SECOND)


def test_what_a_plan_lets_expect(tmp_path: Path) -> None:
    world = make_world(tmp_path, [[odd_row(n * SECOND, n) for n in range(5)]], [PLAIN, ODD, MIDDLE], 0)
    rows = expected_rows(world.catalog, world.plan("shared"))
    assert rows["plain"] == {"lane": "file", "reason": ""}
    assert rows["odd"]["lane"] == "frame"
    assert rows["middle"] == {"lane": "unshared", "reason": UNSHARED}
    (line,) = lane_lines(rows)
    assert line.startswith("frame lane: odd, since only Spark evaluates sin(i) > 0")
    arguments = ["plan", str(tmp_path / "catalog"), "--stream", STREAM]
    shown = CliRunner().invoke(app, arguments)
    assert "1 of 3 queries" in shown.stdout, shown.output
    assert line in shown.stdout
    assert json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)["lanes"] == rows


def test_without_files_nothing_is_expected(tmp_path: Path) -> None:
    world = make_world(tmp_path, [], [PLAIN, ODD], 0)
    assert expected_rows(world.catalog, world.plan("shared")) == {}
    assert not spark_has_work(world.catalog, STREAM)


def test_where_spark_has_work_of_its_own(tmp_path: Path) -> None:
    cases = [([PLAIN], "auto", False), ([PLAIN], "frame", True), ([PLAIN, ODD], "auto", True)]
    cases += [([PLAIN, MIDDLE], "auto", True)]
    for number, (entries, lane, working) in enumerate(cases):
        world = make_world(tmp_path / str(number), [[odd_row(0, 1)]], entries, 0)
        assert spark_has_work(world.catalog, STREAM, lane) == working


def test_the_report_of_one_process_has_a_row_per_query(tmp_path: Path) -> None:
    make_world(tmp_path, [[odd_row(n * SECOND, n) for n in range(5)]], [PLAIN], 0)
    request = Request(str(tmp_path / "catalog"), STREAM, str(tmp_path / "warehouse"), options=Options())
    report = evaluate_request(request, None, lambda line: None, lambda manifest, seconds: None)
    assert report.queries == {"plain": {"lane": "file", "reason": ""}}
