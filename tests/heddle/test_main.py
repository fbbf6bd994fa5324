"""The command line as a whole: help everywhere, and a user's mistake is a line and exit code 2."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heddle.commands import COMMANDS, PANELS
from heddle.main import app


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    outcome = CliRunner().invoke(app, [name, "--help"])
    assert outcome.exit_code == 0
    assert "Usage" in outcome.output


def test_help_lists_every_command() -> None:
    """In the order of COMMANDS, below the names of their panels."""
    printed = CliRunner().invoke(app, ["--help"]).output
    listed = re.findall(r"^│ ([a-z]+) ", printed, re.M)
    assert listed == list(COMMANDS)
    assert [panel for panel in PANELS if f"─ {panel} ─" in printed] == list(PANELS)
    assert max(map(len, printed.splitlines())) <= 80


def test_a_mistake_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "heddle", "catalog", "check", str(tmp_path / "missing")]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert outcome.returncode == 2
    assert len(outcome.stderr.strip().splitlines()) == 1
    assert "missing" in outcome.stderr
