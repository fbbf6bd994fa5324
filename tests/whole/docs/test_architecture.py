"""docs/architecture.md names what is there: its links lead to modules, and its table has every room."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
PACKAGES = ("optimizer", "jobs", "expectations", "plugins", "dags", "heddle", "tools")


def section(title: str) -> str:
    """Return the text below a title, up to the next one of its kind."""
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def test_links_lead_to_modules_and_pages() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", PAGE)
    assert [target for target in targets if not (ROOT / "docs" / target).exists()] == []


def test_paths_in_the_text_exist() -> None:
    paths = re.findall(rf"`((?:{'|'.join(PACKAGES)}|tests|docs)/[\w/.]+)`", PAGE)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_both_lives_are_told_module_by_module() -> None:
    for title in ("The life of an event", "The life of a query"):
        modules = re.findall(r"\]\(\.\./([\w/]+\.py)\)", section(title))
        assert len(modules) >= 20


def test_every_room_is_in_the_table() -> None:
    rooms = {page.parent for package in ("optimizer", "jobs") for page in (ROOT / package).glob("*/__init__.py")}
    rooms |= {page.parent for page in (ROOT / "jobs" / "engine").glob("*/__init__.py")} - {ROOT / "jobs" / "engine"}
    named = {ROOT / path for path in re.findall(r"^\| `([\w/]+)`", section("Rooms"), re.M)}
    assert {room for room in rooms if room != ROOT / "jobs" / "engine"} <= named


def test_names_in_the_text_are_in_the_files_beside_them() -> None:
    """`SOURCES` of `jobs/engine/sources`: the file, or the folder's contents page, has the name."""
    pairs = re.findall(rf"`(\w+)` (?:of|in)\s+`((?:{'|'.join(PACKAGES)})/[\w/.]+)`", PAGE)
    assert len(pairs) > 3
    files = {path: ROOT / path if path.endswith(".py") else ROOT / path / "__init__.py" for _, path in pairs}
    assert [pair for pair in pairs if pair[0] not in files[pair[1]].read_text()] == []
