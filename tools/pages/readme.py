"""The generated parts of README.md: what `heddle plan` says of the example catalog, and the picture of that plan."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from heddle.main import app
from tools.pages.parts import replace_parts

ROOT = Path(__file__).parents[2]
ARGUMENTS = ["plan", "examples/catalog", "--stream", "sensors", "--strategy", "tri_weave", "--cost", "operations"]
TIMED = "  planned in "  # the line that differs from run to run


def refresh(page: str) -> str:
    """Return README.md with the command's output up to date."""
    lines = [line.rstrip() for line in run_plan().splitlines()]
    kept = [line for line in lines if line and not line.startswith((TIMED, "Next: "))]
    command = f"$ heddle {' '.join(ARGUMENTS)}"
    return replace_parts(page, {"plan": "\n".join(["```", command, *kept, "```"])})


def draw_plan(path: Path) -> None:
    """Write the picture of the same plan."""
    run_plan("--picture", str(path))


def run_plan(*more: str) -> str:
    """Return what the command prints, with the example catalog where the README has it."""
    arguments = [str(ROOT / word) if word.startswith("examples/") else word for word in ARGUMENTS]
    result = CliRunner().invoke(app, [*arguments, *more], catch_exceptions=False, env={"COLUMNS": "80"})
    if result.exit_code:
        raise ValueError(f"heddle plan failed:\n{result.output}")
    return result.output
