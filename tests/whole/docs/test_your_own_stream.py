"""docs/your-own-stream.md does what it says: its files written, its commands run in order, in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "your-own-stream.md").read_text()
BLOCK = re.compile(r"(?:^`(?P<file>[\w./]+)`:\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S)


def script() -> str:
    """The page as one shell script; a block under the name of a file is that file."""
    steps = ["set -euo pipefail"]
    for block in BLOCK.finditer(PAGE):
        if block["file"]:
            steps.append(f"mkdir -p {Path(block['file']).parent}\ncat > {block['file']} <<'END'\n{block['text']}END")
        elif block["kind"] == "sh":
            steps.append(block["text"])
    return "\n".join(steps)


@pytest.mark.spark
@pytest.mark.long
def test_the_ten_minutes(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(["bash", "-c", script()], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    for said in ("no mistakes", "saving", "20,000 events", "berlin", "all as plain Spark has them", "champion"):
        assert said in done.stdout, (said, done.stdout)


def test_pages_link_to_pages_that_exist() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert "://" in target or (page.parent / target).exists(), (page.name, target)
