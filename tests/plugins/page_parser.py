"""Reads a page as a browser would, strictly: every tag closed, every id once."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br", "wbr", "hr", "img"}


class PageParser(HTMLParser):
    """What is on a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == [], self.open
        ids = [attributes["id"] for _, attributes in self.tags if "id" in attributes]
        assert len(ids) == len(set(ids)), "an id is there twice"
        self.ids = set(ids)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every such tag."""
        return [attributes for name, attributes in self.tags if name == tag]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        self.text += data
