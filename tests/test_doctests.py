"""The examples in docstrings give what they say, as `pytest --doctest-modules` of these folders would find."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("optimizer", "jobs/kernels", "jobs/engine/slices")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if ">>> " in path.read_text())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_examples(file: Path) -> None:
    """Every example of a module, each function's with the module's names and nothing else."""
    name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.attempted
    assert not outcome.failed
