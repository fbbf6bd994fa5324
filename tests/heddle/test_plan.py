"""`heddle plan`: what a user sees, what is written, and Ctrl-C."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heddle.main import app
from jobs.generate import generate
from jobs.generate.draws import Options
from optimizer import Plan, Window, optimize
from optimizer.errors import HeddleError
from optimizer.plan.picture import Box, Costs, box_trees, draw

CATALOG = Path(__file__).parents[2] / "examples" / "catalog"


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["plan", str(CATALOG), *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_explains_every_stream() -> None:
    output = run()
    assert "plan of stream sensors by cascade" in output
    assert "plan of stream trades by cascade" in output
    assert "1000 events per second, assumed, since its files do not tell" in output
    assert "saving" in output
    assert "Next: heddle evaluate" in output


def test_writes_a_plan_and_a_picture(tmp_path: Path) -> None:
    out, picture = tmp_path / "plan.json", tmp_path / "plan.svg"
    output = run("--stream", "trades", "--strategy", "cascade", "--out", str(out), "--picture", str(picture))
    plan = Plan.from_json(out.read_text())
    assert plan.stream == "trades"
    assert plan.recomputed_cost() == pytest.approx(plan.cost)
    assert picture.read_text().startswith("<?xml")
    assert f"--plan {out}" in output.replace("\n", "")


def test_the_plan_in_force_is_shown_as_a_new_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEDDLE_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    asked = ["replan", str(CATALOG), "--stream", "sensors", "--rate", "1000"]
    assert CliRunner().invoke(app, asked, catch_exceptions=False).exit_code == 0
    shown = CliRunner().invoke(app, ["plans", "show", "sensors"], catch_exceptions=False).stdout
    assert "  version       1\n" in shown
    assert "edges/s" in shown
    assert max(len(line.rstrip()) for line in shown.splitlines()) <= 80


def test_the_newest_files_tell_the_rate_and_the_keys(tmp_path: Path) -> None:
    shutil.copytree(CATALOG, tmp_path / "catalog")
    generate("trades", Options(events=20_000, rate=50.0, keys=20), tmp_path / "data" / "trades", lambda rows: None)
    result = CliRunner().invoke(app, ["plan", str(tmp_path / "catalog"), "--stream", "trades", "--json"])
    plan = Plan.from_json(result.stdout)
    assert plan.rate == pytest.approx(50.0, rel=0.05)
    assert max([plan.keys, *(keys for _, keys in plan.traffic.groups)]) > 10
    said = CliRunner().invoke(app, ["plan", str(tmp_path / "catalog"), "--stream", "trades", "--rate", "7"]).stdout
    assert "7 events per second, as given" in said


def test_json_is_the_plan_and_its_summary() -> None:
    found = json.loads(run("--stream", "trades", "--keys", "10", "--json"))
    assert found["cost"] <= found["baselines"]["no_share"]
    assert found["planning_seconds"] >= 0
    assert Plan.from_json(json.dumps(found)).fingerprint() == found["fingerprint"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--strategy", "cascde"], "there is no strategy 'cascde'; did you mean cascade?"),
        (["--technique", "dab"], "there is no technique 'dab'; did you mean daba?"),
        (["--stream", "nowhere"], "no such stream"),
        (["--json"], "name one of them with --stream"),
        (["--stream", "trades", "--picture", "plan.gif"], "a picture is .svg or .png"),
        (["--stream", "trades", "--rate", "-1"], "rate -1.0 makes no sense"),
        (["--stream", "trades", "--out", "/nowhere/plan.json"], "cannot be written"),
    ],
)
def test_mistakes_get_one_line(arguments: list[str], line: str) -> None:
    result = CliRunner().invoke(app, ["plan", str(CATALOG), *arguments])
    assert isinstance(result.exception, HeddleError)
    assert line in str(result.exception)


def test_ctrl_c_gives_the_best_plan_so_far(tmp_path: Path) -> None:
    """Many classes with residues take a while; the first Ctrl-C ends the search with a whole plan."""
    rows = [
        f"  - {{id: q{n}, stream: s, select: max(x), range: {7 * n + 31} seconds, slide: {n % 23 + 7} seconds}}"
        for n in range(150)
    ]
    head = "streams:\n  s: {source: {format: parquet, path: data}, time: ts, lateness: 1 second}\nqueries:\n"
    (tmp_path / "catalog.yaml").write_text(head + "\n".join(rows))
    before = signal.getsignal(signal.SIGINT)

    def press() -> None:
        while signal.getsignal(signal.SIGINT) is before:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    keyboard = threading.Thread(target=press)
    keyboard.start()
    arguments = ["plan", str(tmp_path), "--strategy", "cascade", "--json"]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    keyboard.join()
    assert signal.getsignal(signal.SIGINT) is before
    assert json.loads(result.output)["stopped"]
    plan = Plan.from_json(result.output)
    assert len([query for tree in plan.trees for query in tree.queries]) == 150


@pytest.mark.parametrize("suffix", [".svg", ".png"])
@pytest.mark.parametrize("queries", [5, 500])
def test_pictures(tmp_path: Path, queries: int, suffix: str) -> None:
    windows = [Window(slide * (n + 1), slide) for n in range(queries) for slide in [(4, 5, 6, 10, 20)[n % 5]]]
    for strategy in ("tri_weave", "no_share"):
        plan = optimize(windows, 1.0, strategy, "flat_fit")
        boxes = list(_with_inner(box_trees(plan, Costs.of(plan, None))))
        assert sum(box.queries for box in boxes) == queries
        assert len(boxes) <= 30
        path = tmp_path / f"plan{suffix}"
        draw(plan, path)
        assert path.stat().st_size > 1000


def _with_inner(boxes: Iterable[Box]) -> Iterator[Box]:
    for box in boxes:
        yield box
        yield from _with_inner(box.inside)
