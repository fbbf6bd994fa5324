"""Write every generated page: `python -m tools.pages`, or `make docs`."""

from __future__ import annotations

from tools.pages import DOCS, PAGES, PICTURES


def main() -> None:
    """Write the pages that differ from what the tables say."""
    for name, refresh in PAGES.items():
        path = DOCS / name
        page = path.read_text(encoding="utf-8")
        if (current := refresh(page)) != page:
            path.write_text(current, encoding="utf-8")
    for name, draw in PICTURES.items():
        draw(DOCS / name)


if __name__ == "__main__":
    main()
