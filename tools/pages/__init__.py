"""Pages of docs/ that are generated from tables: `make docs` writes them, a test says when one is stale.

- __main__: `python -m tools.pages` writes every page.
- kernels: docs/kernels.md, from the techniques' cards and the operators' table.
- parts: Generated parts of docs/catalog.md, docs/workloads.md and README.md, which are otherwise written by hand.
- strategies: docs/strategies.md, from the strategies' cards.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tools.pages import kernels, parts, strategies

DOCS = Path(__file__).parents[2] / "docs"

# each function takes the page as it is and returns it as it should be
PAGES: dict[str, Callable[[str], str]] = {
    "catalog.md": parts.refresh_catalog,
    "kernels.md": kernels.refresh,
    "strategies.md": strategies.refresh,
    "workloads.md": parts.refresh_workloads,
    "../README.md": parts.refresh_readme,
}
PICTURES: dict[str, Callable[[Path], None]] = {"plan.svg": parts.draw_plan}
