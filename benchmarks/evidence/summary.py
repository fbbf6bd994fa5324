"""The table on top of docs/evidence.md: of every figure of a paper, whether its numbers hold here.

It is read off the sections below it, so that a part that is measured alone leaves the rows of the others as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

CLAIMS_HEAD = "| figure | the paper says | there | here | here / there | holds | why it differs |"
HEAD = """
A row for every figure of a paper, with the first of its numbers: *there* is the paper's, *here* is ours. It holds
where ours gains at least four fifths as much, and partly where it gains less, but something. The last column says how
many of the figure's numbers hold; further down each has its own line, and a reason where it differs.

| figure | paper | the paper says | there | here | here / there | holds | how many |
|---|---|---|---:|---:|---:|---|---:|
"""
SUMMARY = re.compile(r"\n<!-- summary -->.*?<!-- end of summary -->\n", re.DOTALL)
SECTION = re.compile(r"<!-- (?P<name>\w+) -->\n## (?P<title>.*?)\n(?P<text>.*?)<!-- end of (?P=name) -->\n", re.DOTALL)
PAPER = re.compile(r"\(([A-Z]+ \d{4})\)")  # in the title of a section


def summarize(page: str) -> str:
    """Return the page with its summary renewed, before the first section."""
    page = SUMMARY.sub("", page)
    rows = list(summary_rows(page))
    first = SECTION.search(page)
    if not rows or not first:
        return page
    block = "\n".join([f"<!-- summary -->{HEAD}" + rows[0], *rows[1:], "<!-- end of summary -->"])
    before = page[: first.start()].rstrip("\n")
    return f"{before}\n\n{block}\n\n{page[first.start() :]}"


def summary_rows(page: str) -> Iterator[str]:
    """Yield a row for every figure that a paper's numbers stand beside."""
    for section in SECTION.finditer(page):
        paper = PAPER.search(section["title"])
        for figure in section["text"].split("\n### ")[1:]:
            claims = claims_of(figure)
            if paper and claims:
                title = figure.partition("\n")[0]
                _, says, there, here, share, holds, _ = claims[0]
                holding = sum(claim[5] == "yes" for claim in claims)
                cells = [f"[{title}](#{anchor_of(title)})", paper[1], says, there, here, share, holds]
                yield f"| {' | '.join(cells)} | {holding} of {len(claims)} |"


def claims_of(figure: str) -> list[list[str]]:
    """Return the cells of the table that holds ours beside the paper's numbers.

    >>> row = "| Fig. 1 | a gain | 2 times | 1 times | 0.5 | no |  |"
    >>> claims_of(f"Title\\n\\n{CLAIMS_HEAD}\\n|---|---|\\n{row}\\n\\n| x |")
    [['Fig. 1', 'a gain', '2 times', '1 times', '0.5', 'no', '']]
    """
    _, head, after = figure.partition(f"{CLAIMS_HEAD}\n")
    lines = after.partition("\n\n")[0].splitlines()[1:] if head else []
    return [line[2:-2].split(" | ") for line in lines]


def anchor_of(title: str) -> str:
    """Return what a heading is linked by.

    >>> anchor_of("Figure 10: one sum over the window, after every event")
    'figure-10-one-sum-over-the-window-after-every-event'
    """
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())
