"""The generated pages of docs/ say what the tables of the code say."""

from __future__ import annotations

from pathlib import Path

import pytest

import tools.pages
from tools.pages import DOCS, PAGES, PICTURES
from tools.pages.parts import replace_parts

HELPERS = {"__init__", "__main__", "parts"}


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_current(name: str) -> None:
    page = (DOCS / name).read_text(encoding="utf-8")
    assert PAGES[name](page) == page, f"docs/{name} is stale; run: make docs"


def test_the_table_forgets_no_generator() -> None:
    files = {file.stem for file in Path(tools.pages.__file__).parent.glob("*.py")}
    assert {f"{name}.md" for name in files - HELPERS} == {Path(page).name.lower() for page in PAGES}


@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_is_current(name: str, tmp_path: Path) -> None:
    PICTURES[name](tmp_path / name)
    assert (tmp_path / name).read_text() == (DOCS / name).read_text(), f"docs/{name} is stale; run: make docs"


def test_a_page_without_its_part_is_an_error() -> None:
    with pytest.raises(ValueError, match="has no part 'sizes'"):
        replace_parts("# Title\n", {"sizes": "new"})
