"""The folders stay small, and every folder's docstring is its contents page."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("optimizer", "jobs", "expectations", "plugins", "dags", "heddle", "tools")
FOLDERS = sorted(page.parent for package in PACKAGES for page in (ROOT / package).rglob("__init__.py"))
MODULES = sorted(path for folder in FOLDERS for path in folder.glob("*.py") if path.name != "__init__.py")

MOST_IN_A_FOLDER = 15
MOST_LINES = 350
LARGER_FOLDERS: dict[str, int] = {}  # each with the reason why
WORTH_A_FILE = 170  # lines: a module and its only reader, side by side and shorter than this together, are one module
ONE_FILE_EACH = {
    "jobs/kernels/techniques",
    "jobs/sinks",
    "optimizer/strategies",
}  # an entry of a table has a file of its own


def name(path: Path) -> str:
    """Return the path below the repository's root, with slashes."""
    return path.relative_to(ROOT).as_posix()


def listed_names(folder: Path) -> list[str]:
    """Return the names that the contents page of this folder lists."""
    page = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
    return re.findall(r"^- (\w+): \S", page, re.MULTILINE)


def existing_names(folder: Path) -> list[str]:
    """Return the modules and sub-folders of this folder that hold Python."""
    modules = [path.stem for path in folder.glob("*.py") if path.name != "__init__.py"]
    folders = [path.name for path in folder.iterdir() if path.is_dir() and any(path.glob("*.py"))]
    return sorted(modules + folders)


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_a_contents_page_names_what_is_there_and_nothing_else(folder: Path) -> None:
    """A line `- name: what it is.` for every module and every sub-folder, once."""
    assert sorted(listed_names(folder)) == existing_names(folder)


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_a_folder_holds_few_modules(folder: Path) -> None:
    """A reader takes in one folder at a glance."""
    modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= LARGER_FOLDERS.get(name(folder), MOST_IN_A_FOLDER)


def test_an_exception_is_still_needed() -> None:
    """A folder that has shrunk leaves the list of exceptions."""
    for folder in LARGER_FOLDERS:
        assert len(list((ROOT / folder).glob("*.py"))) - 1 > MOST_IN_A_FOLDER


def test_no_module_is_long() -> None:
    """A module is one idea with its helpers."""
    lines = {name(path): len(path.read_text().splitlines()) for path in MODULES}
    assert {path: count for path, count in lines.items() if count > MOST_LINES} == {}


def test_a_small_module_is_merged_with_its_only_reader() -> None:
    """A new module has to be worth its file."""
    small = [
        f"{name(path)} and {name(reader)}"
        for path, readers in readers_of_modules().items()
        for reader in readers
        if len(readers) == 1 and reader.parent == path.parent and name(path.parent) not in ONE_FILE_EACH
        if len((path.read_text() + reader.read_text()).splitlines()) < WORTH_A_FILE
        if reader.stem not in {"__init__", "__main__"}
    ]
    assert small == []


def readers_of_modules() -> dict[Path, set[Path]]:
    """Return the modules, contents pages among them, that import each module."""
    places = {name(path)[:-3].replace("/", "."): path for path in MODULES}
    readers: dict[Path, set[Path]] = {path: set() for path in MODULES}
    for reader in (*MODULES, *(folder / "__init__.py" for folder in FOLDERS)):
        for imported in imported_names(reader):
            if imported in places:
                readers[places[imported]].add(reader)
    return readers


def test_every_folder_with_modules_is_a_package() -> None:
    """A folder without `__init__` has no contents page, and a wheel does not hold it."""
    folders = {path.parent for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    assert sorted(map(name, folders)) == sorted(map(name, FOLDERS))


def test_every_module_of_the_engine_has_a_test_beside_its_room() -> None:
    """The folders of tests/ have the names of the rooms; a test there imports the module and shows what it promises."""
    tests = (ROOT / "tests" / "jobs" / "engine").rglob("*.py")
    imports = {imported for path in tests for imported in imported_names(path)}
    modules = [name(path)[:-3].replace("/", ".") for path in MODULES if name(path).startswith("jobs/engine/")]
    assert [module for module in modules if module not in imports] == []


def imported_names(path: Path) -> Iterator[str]:
    """Yield the modules and names that a file imports, with their packages."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
