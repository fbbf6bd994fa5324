"""The examples in docstrings give what they say, as `pytest --doctest-modules` of these folders would find.

In some folders every public function has one.
"""

from __future__ import annotations

import ast
import doctest
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("optimizer", "jobs/kernels", "jobs/engine/slices")
COMPLETE = ("optimizer/windows", "optimizer/cost", "optimizer/planning", "jobs/kernels", "jobs/engine/slices")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if ">>> " in path.read_text())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_examples(file: Path) -> None:
    """Every example of a module, each function's with the module's names and nothing else."""
    name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.attempted
    assert not outcome.failed


def public_functions(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield every public function and method with its docstring, or that of a class whose example shows its methods."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, ast.get_docstring(node) or ""
        if (
            isinstance(node, ast.ClassDef)
            and not node.name.startswith("_")
            and "Protocol" not in map(ast.unparse, node.bases)
        ):
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    text = (ast.get_docstring(method) or "") + (ast.get_docstring(node) or "")
                    yield f"{node.name}.{method.name}", text


@pytest.mark.parametrize("folder", COMPLETE)
def test_every_public_function_has_an_example(folder: str) -> None:
    """Or says which other one shows it."""
    without = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in sorted((ROOT / folder).rglob("*.py"))
        for name, text in public_functions(ast.parse(file.read_text()))
        if not name.rpartition(".")[2].startswith("_") and ">>> " not in text and "shows an example" not in text
    ]
    assert without == []
