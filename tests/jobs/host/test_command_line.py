"""One signature per job: the options of `make` beside a command's own, mistakes in a line, a report as JSON."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from jobs.host.command_line import run_app, run_job, save_text, takes
from optimizer.errors import HeddleError

ROOT = Path(__file__).resolve().parents[3]
JOBS = [
    "jobs/evaluate.py",
    "jobs/backfill.py",
    "jobs/compare.py",
    "expectations/audit.py",
    "expectations/micro_batch.py",
]


@dataclass(frozen=True)
class Box:
    width: int
    height: int


def make_box(width: Annotated[int, typer.Option()], height: Annotated[int, typer.Option()] = 2) -> Box:
    return Box(width, height)


@takes(make_box)
def area(box: Box, times: Annotated[int, typer.Option()] = 1) -> int:
    """Multiply."""
    if box.width < 0:
        raise HeddleError("--width is negative; give 0 or more")
    return box.width * box.height * times


def run(command: Callable[..., Any], *arguments: str) -> Any:
    app = typer.Typer()
    app.command()(command)
    return app(list(arguments), standalone_mode=False)


def test_a_command_takes_the_options_of_make_and_its_own() -> None:
    assert run(area, "--width", "3") == 6
    assert run(area, "--width", "3", "--height", "5", "--times", "2") == 30


def test_a_default_may_differ_between_commands() -> None:
    assert run(takes(make_box, height=10)(lambda box: box), "--width", "3") == Box(3, 10)


def test_what_is_required_stays_required() -> None:
    app = typer.Typer()
    app.command()(area)
    outcome = CliRunner().invoke(app, [])
    assert outcome.exit_code == 2
    assert "--width" in outcome.output


def test_a_job_prints_its_report_as_a_line_of_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["area.py", "--width", "3"])
    with pytest.raises(SystemExit) as ended:
        run_job(area)
    assert not ended.value.code
    assert json.loads(capsys.readouterr().out) == 6


def test_a_mistake_is_a_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["area.py", "--width", "-3"])
    with pytest.raises(SystemExit) as ended:
        run_job(area)
    assert ended.value.code == 2
    assert capsys.readouterr() == ("", "--width is negative; give 0 or more\n")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((), "Missing option '--width'; .*area.* --help lists all\n"),
        (("--width", "x"), "Invalid value for '--width': Input should be a valid integer; .*area.* --help lists all\n"),
        (("--widht", "3"), "No such option: --widht.*; .*area.* --help lists all\n"),
        (("--width", "3", "more"), "Got unexpected extra argument.*; .*area.* --help lists all\n"),
    ],
)
def test_a_wrong_option_is_a_line_and_exit_code_2(
    arguments: tuple[str, ...], line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["area.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        run_job(area)
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert re.fullmatch(line, said.err)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    save_text(tmp_path / "plan.json", "{}")
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "none" / "plan.json", tmp_path / "folder"):
        with pytest.raises(HeddleError, match="cannot be written"):
            save_text(place, "{}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "plan.json"]


@pytest.mark.parametrize("job", JOBS)
def test_every_submitted_job_has_help(job: str) -> None:
    """A job starts as spark-submit starts it: by its file, with its folder first on the path."""
    command = [sys.executable, job, "--help"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    outcome = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    assert "--stream" in outcome.stdout


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_disk_in_trouble_is_one_line(
    number: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = typer.Typer(pretty_exceptions_enable=False)

    @app.command()
    def write() -> None:
        raise OSError(number, os.strerror(number), "/far/plan.json")

    monkeypatch.setattr(sys, "argv", ["write"])
    with pytest.raises(SystemExit) as ended:
        run_app(app)
    said = capsys.readouterr().err
    assert (ended.value.code, said.count("\n")) == (2, 1)
    assert said.startswith(f"/far/plan.json: {os.strerror(number)}; free some space or mend the folder")


def test_any_other_error_of_the_system_is_no_mistake_of_a_user(monkeypatch: pytest.MonkeyPatch) -> None:
    app = typer.Typer(pretty_exceptions_enable=False)

    @app.command()
    def connect() -> None:
        raise ConnectionRefusedError(errno.ECONNREFUSED, "refused")

    monkeypatch.setattr(sys, "argv", ["connect"])
    with pytest.raises(ConnectionRefusedError):
        run_app(app)
