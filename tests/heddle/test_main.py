"""The command line as a whole: help everywhere, and a user's mistake is a line and exit code 2."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heddle.commands import COMMANDS
from heddle.main import app


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    outcome = CliRunner().invoke(app, [name, "--help"])
    assert outcome.exit_code == 0
    assert "Usage" in outcome.output


def test_help_lists_every_command() -> None:
    printed = CliRunner().invoke(app, ["--help"]).output
    assert all(name in printed for name in COMMANDS)


def test_a_mistake_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "heddle", "catalog", "check", str(tmp_path / "missing")]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert outcome.returncode == 2
    assert len(outcome.stderr.strip().splitlines()) == 1
    assert "missing" in outcome.stderr
