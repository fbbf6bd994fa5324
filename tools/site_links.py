"""A hook of the site: links out of docs/ lead to the code, which is no page of the site; they are shown as its path."""

from __future__ import annotations

import re
from typing import Any

OUTSIDE = re.compile(r"(!?)\[([^\]]+)\]\(\.\./([^)]+)\)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace a link to a file of the repository by its text and path.

    >>> on_page_markdown("see [the batch](../jobs/engine/batch/run_batch.py) and [edges](edges.md)")
    'see the batch (`jobs/engine/batch/run_batch.py`) and [edges](edges.md)'
    >>> on_page_markdown("[jobs/evaluate.py](../jobs/evaluate.py) starts it")
    '`jobs/evaluate.py` starts it'
    """
    return OUTSIDE.sub(_as_path, markdown)


def _as_path(link: re.Match[str]) -> str:
    _, text, path = link.groups()
    return f"`{path}`" if text.strip("`") == path else f"{text} (`{path}`)"
