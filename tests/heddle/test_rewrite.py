"""`heddle rewrite`: what is printed, what is written, and what is refused in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heddle.main import app

CATALOG = Path(__file__).parents[2] / "examples" / "catalog"


def test_prints_sql_and_nothing_else() -> None:
    result = CliRunner().invoke(app, ["rewrite", str(CATALOG), "--stream", "trades"], catch_exceptions=False)
    statements = [part.strip() for part in result.stdout.split(";")]
    assert statements.pop() == ""
    assert {part.split()[0] for part in statements} == {"SET", "CREATE", "UNCACHE", "CACHE", "SELECT"}
    assert "sizes_seen_10m" in result.stderr  # count(DISTINCT volume) has no partials
    assert "Next: heddle rewrite" in result.stderr


def test_writes_a_file(tmp_path: Path) -> None:
    out = tmp_path / "trades.sql"
    arguments = ["rewrite", str(CATALOG), "--stream", "trades", "--strategy", "cascade", "--out", str(out)]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.stdout == ""
    assert f"spark-sql -f {out}" in result.stderr
    assert out.read_text().startswith("SET TIME ZONE 'UTC';\n")


def test_writes_a_program(tmp_path: Path) -> None:
    out = tmp_path / "trades.py"
    arguments = ["rewrite", str(CATALOG), "--stream", "trades", "--streaming", "--out", str(out)]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert "left out, since no Structured Streaming query answers them: sizes_seen_10m" in result.stderr
    assert f"spark-submit {out} FOLDER" in result.stderr
    compile(out.read_text(), str(out), "exec")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--stream", "nowhere"], "nowhere: the catalog has no such stream; it has sensors, trades"),
        (["--stream", "trades", "--strategy", "factor"], "there is no strategy 'factor'; did you mean"),
        (["--stream", "trades", "--out", "missing/folder/x.sql"], "missing/folder/x.sql: cannot be written"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], line: str) -> None:
    command = [sys.executable, "-m", "heddle", "rewrite", str(CATALOG), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 2
    assert result.stderr.startswith(line)
    assert result.stderr.count("\n") == 1
