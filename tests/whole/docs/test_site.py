"""The site has every page of docs/, its links lead somewhere, and the names of its Python page are there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.md"))


def test_the_navigation_names_every_page() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text().split("\nnav:\n")[1]
    assert sorted(re.findall(r": ([\w-]+\.md)$", navigation, re.M)) == PAGES


@pytest.mark.parametrize("page", [*PAGES, "../README.md", "../CONTRIBUTING.md", "../SECURITY.md"])
def test_links_lead_somewhere(page: str) -> None:
    path = DOCS / page
    targets = re.findall(r"\]\((?!https?:|mailto:)([^)#\s]+)(?:#[\w-]+)?\)", path.read_text())
    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_the_python_page_names_what_is_there() -> None:
    names = re.findall(r"^::: ([\w.]+)$", (DOCS / "python.md").read_text(), re.M)
    assert len(names) > 5
    for name in names:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


def test_the_threats_name_tests_that_are_there() -> None:
    places = re.findall(r"`(tests/[\w/]+)`", (DOCS / "security.md").read_text())
    assert len(places) > 5
    assert [place for place in places if not (ROOT / place).is_dir()] == []
