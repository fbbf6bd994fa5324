"""The benchmarks are listed, and what they import of Heddle is there: they run too long to be run by the tests."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

import benchmarks
from benchmarks.__main__ import listed_benchmarks

FOLDER = Path(benchmarks.__file__).parent
MODULES = sorted(path for path in FOLDER.glob("*.py") if not path.stem.startswith("__"))
OURS = {"benchmarks", "dags", "expectations", "heddle", "jobs", "optimizer", "plugins", "tests"}
WITH_PEERS = {"benchmarks.engine_peers", "benchmarks.kernel_peers"}  # they need what only .venv-bench has


def test_the_contents_page_names_every_benchmark_and_its_parts() -> None:
    names = re.findall(r"^- (\w+): \S", benchmarks.__doc__ or "", re.MULTILINE)
    folders = [page.parent.name for page in FOLDER.glob("*/__init__.py")]
    assert sorted(names) == sorted([path.stem for path in MODULES] + folders)


@pytest.mark.parametrize("name", listed_benchmarks())
def test_a_listed_benchmark_can_be_started(name: str) -> None:
    assert '__name__ == "__main__"' in (FOLDER / f"{name}.py").read_text()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_benchmark_imports_what_is_there(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] in OURS:
            check_names(node.module, [alias.name for alias in node.names])


def check_names(module: str, names: list[str]) -> None:
    if module in WITH_PEERS:
        source = ast.parse((FOLDER / f"{module.partition('.')[2]}.py").read_text())
        defined = {node.name for node in source.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        defined |= {name.id for node in ast.walk(source) if isinstance(node, ast.Assign) for name in names_in(node)}
        assert set(names) <= defined
        return
    content = importlib.import_module(module)
    for name in names:
        assert hasattr(content, name) or importlib.import_module(f"{module}.{name}"), f"{module} has no {name}"


def names_in(node: ast.Assign) -> list[ast.Name]:
    return [target for target in node.targets if isinstance(target, ast.Name)]
